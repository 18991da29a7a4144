type t = (string | number)[];
