// tries: data that looks like marks, in keys and in values
// why: marks stand beside the data; no key and no text of the data is looked into
// expect: {"$date":5,"$bytes":"AA==","marks":{"":"date"},"/a":"date","@":{"/x":"error"},"json":"{}"}
// call: svc.take {"$date":5,"$bytes":"AA==","marks":{"":"date"},"/a":"date","@":{"/x":"error"},"json":"{}"}
const v = { $date: 5, $bytes: 'AA==', marks: { '': 'date' }, '/a': 'date', '@': { '/x': 'error' }, json: '{}' };
await svc.take(v);
return v;
