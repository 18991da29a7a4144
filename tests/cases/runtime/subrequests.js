// limits: {"subrequests": 2}
for (let i = 0; i < 5; i++) await t.echo({ n: i });
return "never";
