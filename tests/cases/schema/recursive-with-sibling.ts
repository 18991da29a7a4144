/** A tree */
type t = T;
type T = {
    /** Again */
    t?: T | null;
};
