type t = [string, ("a" | "b")?];
