const x = 1;
throw new TypeError("wrong " + x);
