type t = string;
