const race = await Promise.race([t.wipe({ disk: 1 }), t.echo({ n: 2 })]);
return race;
