type t = {
    a?: unknown;
    b?: unknown;
    c?: unknown;
    d?: string;
    e?: unknown[];
};
