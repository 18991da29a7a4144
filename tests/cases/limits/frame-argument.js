// what: one message of the sandbox: arguments
// limits: {"frameBytes": 4096}
// 4045: completed
// 4046: completed
// 4047: frame_limit with limits.frameBytes
await svc.ok({ a: 'x'.repeat(input) });
