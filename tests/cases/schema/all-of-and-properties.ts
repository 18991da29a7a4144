type t = {
    a: string;
} & {
    b?: number;
};
