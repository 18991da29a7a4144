type t = {
    a: string;
    b: string;
};
