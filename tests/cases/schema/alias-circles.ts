type t = {
    a?: unknown;
    c?: C;
    d?: D;
    e?: E;
    f?: F;
};
type C = string;
type D = {
    x?: string;
};
type E = {
    y?: D;
};
/** itself */
type F = unknown;
