type t = {
    n: null;
    s: "v\u2028\"";
    o: { k: [1, {}] };
};
