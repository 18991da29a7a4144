type t = "x" | 2 | null | { k: 1; "a b": [true] } | [1, "y"] | -1.5 | 1e+21;
