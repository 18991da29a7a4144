type t = unknown[];
