type t = never;
