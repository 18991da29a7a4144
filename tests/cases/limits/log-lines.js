// what: many short lines share it
// limits: {"logBytes": 100}
// 10: completed without limits.logBytes
// 11: completed with "truncated":{"logs":{"code":"log_limit"
for (let i = 0; i < input; i++)
    console.log('0123456789');
