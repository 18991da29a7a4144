type t = {
    a?: unknown;
    b?: never;
    c?: string;
    d?: string;
    e?: never[];
};
