type t = {
    "x-a"?: string;
    [key: string]: string | number | undefined;
};
