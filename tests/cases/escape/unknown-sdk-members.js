// tries: other functions of the SDK: run, exec, approve, connect
// why: a member that does not exist rejects with what does, and calls nothing
// expect: ["TypeError","TypeError","TypeError","TypeError"]
return await Promise.all(['approve', 'connect', 'exec', 'constructor2'].map((k) => codemode[k]({}).catch((e) => e.name)));
