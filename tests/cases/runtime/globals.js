return fs.readFileSync("/etc/passwd");
