// what: async functions that wait
// end: memory_limit
const never = new Promise(() => {});
async function wait(i) { const local = [i]; await never; return local; }
for (let i = 0;; i++)
    wait(i);
