type t = unknown;
