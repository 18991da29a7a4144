// limits: {"deadlineMs": 1500}
t.effect({});
return "in time";
