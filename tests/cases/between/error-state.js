// leaves: errors without stacks, with another text
Error.stackTraceLimit = 0;
Error.prepareStackTrace = () => 'mine';
Error.captureStackTrace = () => 'mine';
Error.prototype.toString = () => 'mine';
Error.prototype.name = TypeError.prototype.name = 'Mine';
Object.defineProperty(Error.prototype, 'stack', { get: () => 'mine', configurable: true });
Error.isError = () => true;
return String(new Error('x'));
// ---- next run
// expect: ["Error: x","TypeError",true,true,false,100]
const { stack } = new Error('x');
let caught;
try { null.x; } catch (e) { caught = e; }
return [String(new Error('x')), caught.name, typeof stack === 'string' && stack.length > 0, caught instanceof TypeError, Error.isError({}), Error.stackTraceLimit];
