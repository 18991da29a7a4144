type t = {};
