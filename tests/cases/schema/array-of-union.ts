type t = (string | null)[];
