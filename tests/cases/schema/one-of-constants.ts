type t = "a" | "b";
