type t = [string, number | null, ...(number | boolean)[]];
