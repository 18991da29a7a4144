type t = [...string[]];
