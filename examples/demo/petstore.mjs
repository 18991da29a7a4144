// The service that petstore.yaml describes, on a free port of the loopback interface. Prints its URL once it listens.
import { createServer } from 'node:http';

const pets = [
  { id: 1, name: 'Mira', kind: 'cat', price: 12000 },
  { id: 2, name: 'Bruno', kind: 'dog', price: 30000 },
  { id: 3, name: 'Pip', kind: 'bird', price: 4500 },
];

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

async function answer(request) {
  const url = new URL(request.url, 'http://localhost');
  const one = /^\/v1\/pets\/(\d+)$/.exec(url.pathname);
  if (request.method === 'GET' && one) {
    const pet = pets.find((p) => p.id === Number(one[1]));
    return pet ? [200, pet] : [404, { message: `there is no pet ${one[1]}` }];
  }
  if (url.pathname !== '/v1/pets') return [404, { message: `nothing at ${url.pathname}` }];
  if (request.method === 'GET') {
    const kind = url.searchParams.get('kind');
    return [200, pets.filter((p) => !kind || p.kind === kind)];
  }
  if (request.method === 'POST') {
    const pet = { id: pets.length + 1, ...(await bodyOf(request)) };
    pets.push(pet);
    return [201, pet];
  }
  return [405, { message: `${request.method} is not allowed here` }];
}

const server = createServer((request, response) => {
  answer(request)
    .catch((e) => [400, { message: e.message }])
    .then(([status, body]) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
