type t = {
    a?: X;
    b?: t;
};
type X = {
    y?: number;
};
