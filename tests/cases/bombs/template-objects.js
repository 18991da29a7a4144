// what: template objects, one for each place in the source
// end: memory_limit
const kept = [], tag = strings => strings;
for (let i = 0;; i++)
    kept.push(new Function('tag', `return [tag\`a${i}\${1}b\`, tag\`c\${2}${i}d\`, tag\`${'e'.repeat(200)}\`]`)(tag));
