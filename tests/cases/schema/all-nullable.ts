type t = {
    a?: string | null;
    b?: {
        x?: string;
    } | null;
    c?: string[] | null;
    d?: unknown;
    e?: 1 | null;
    f?: string | null;
};
