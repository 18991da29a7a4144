// tries: the comments of old pages, which end no line for one parser and do for another
// why: both parsers read them as the language's annex says; what stands behind is no code
// expect: "run"
let said = 'run';
<!-- said = svc.first({});
--> said = svc.second({});
return said;
