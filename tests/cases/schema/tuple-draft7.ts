type t = [string, number, ...string[]];
