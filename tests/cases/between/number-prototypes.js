// leaves: other methods of numbers, booleans and bigints
for (const C of [Number, Boolean, BigInt, Symbol]) {
  C.prototype.toString = C.prototype.valueOf = C.prototype.toLocaleString = () => 'mine';
  C.prototype.toJSON = () => 'mine';
}
Number.prototype.toFixed = () => 'mine';
Number.isInteger = Number.parseFloat = Number.isSafeInteger = () => 'mine';
return (1).toFixed();
// ---- next run
// expect: ["1.50","1","true","5",true,1.5,[1,true]]
return [(1.5).toFixed(2), (1).toString(), true.toString(), 5n.toString(), Number.isInteger(1), Number.parseFloat('1.5'), [1, true]];
