// what: an exec of its own that always finds
// end: cpu_limit
const r = /x/g;
r.exec = () => {
    const m = ['x'];
    m.index = 0;
    return m;
};
return 'x'.replace(r, 'y');
