type t = {
    kind: "cat";
    lives?: number;
} | {
    kind: "dog";
};
