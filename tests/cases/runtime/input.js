(input) => input.a + 1
