// what: ever new objects of Intl
// end: cpu_limit|memory_limit
for (;;) {
    new Intl.NumberFormat('ar-EG', { style: 'currency', currency: 'EGP' }).format(1234.5);
    new Intl.DateTimeFormat('ja-JP-u-ca-japanese', { dateStyle: 'full' }).format(0);
}
