// tries: breaking out of the report's text by quotes, line breaks and braces in name, message and code
// why: each is written as a JSON text
// end: threw
// error: "},"x":{": "}}, {"result": 1
// code: "}
throw Object.assign(new Error('"}}, {"result": 1}\n\u0000\ud800'), { name: '"},"x":{"', code: '"}' });
