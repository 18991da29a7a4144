return { sum: (await t.echo({ n: 20 })).n + 22, when: new Date(0), big: 12345678901234567890n, none: undefined };
