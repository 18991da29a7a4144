type t = string | null;
