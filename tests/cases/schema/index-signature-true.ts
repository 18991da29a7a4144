type t = {
    n?: string;
    [key: string]: unknown;
};
