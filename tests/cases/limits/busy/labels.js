// what: labels that lead back
// end: cpu_limit
outer: for (;;) {
    inner: for (;;) {
        try {
            continue outer;
        } finally {
            continue inner;
        }
    }
}
