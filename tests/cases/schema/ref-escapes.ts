type t = {
    a?: ABC;
    s?: SpAce;
};
type ABC = {
    x?: string;
};
type SpAce = 1;
