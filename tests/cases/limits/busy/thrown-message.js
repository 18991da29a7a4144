// what: the message of what is thrown
// end: cpu_limit
throw { get message() { for (;;); } }
