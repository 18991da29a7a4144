type t = {
    a?: unknown;
    b?: unknown;
    c?: string | unknown;
    d?: unknown;
    e?: unknown;
};
