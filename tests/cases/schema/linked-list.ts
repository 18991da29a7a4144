type t = {
    node?: Node_;
};
type Node_ = {
    next?: Node_;
    v?: number;
};
