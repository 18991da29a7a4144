type t = {
    n?: string;
    m: boolean;
    [key: string]: number | string | undefined | boolean;
};
