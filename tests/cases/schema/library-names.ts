type t = {
    a?: Error_;
    b?: String_;
    c?: Record_;
    d?: Promise_;
    e?: SimpleUser;
    f?: SimpleUser2;
    g?: T;
    h?: _2fa;
};
type Error_ = {
    message?: string;
};
type String_ = {
    s?: Error_;
};
type Record_ = "r";
type Promise_ = "p";
type SimpleUser = {
    id?: number;
};
type SimpleUser2 = {
    id?: string;
};
type T = 1;
type _2fa = 2;
