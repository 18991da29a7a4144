type t = {
    n?: {
        x?: string;
    };
    [key: string]: unknown;
};
