type t = {
    address: Address;
    /**
     * Paint
     * @default "red"
     */
    color?: Color;
    more?: {
        [key: string]: Address;
    };
};
type Address = {
    street: string;
    /** @default null */
    zip?: string | null;
};
type Color = "red" | "green";
