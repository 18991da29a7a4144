// tries: raw text in the place of a value, by JSON.rawJSON
// why: texts are made of texts and numbers only; a raw value is an object like any other
// expect: "take"
// calls: any
const raw = JSON.rawJSON ? JSON.rawJSON('"}}{"') : {};
return await svc.take({ raw });
