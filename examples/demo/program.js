// One program, three services: an HTTP API, an MCP server and a local command.
const added = await petstore.add_pet({ body: { name: "Lotte", kind: "cat", price: 9900 } });
const [cats, dogs] = await Promise.all([
  petstore.list_pets({ kind: "cat" }),
  petstore.list_pets({ kind: "dog" }),
]);
const pets = [...cats, ...dogs];

let missing;
try {
  await petstore.get_pet({ id: 99 });
} catch (e) {
  missing = e.message;
}

let sum = "nothing";
for (const pet of pets) {
  const so_far = Number(/([0-9]+)\.$/.exec(sum)?.[1] ?? 0);
  sum = await everything.get_sum({ a: so_far, b: pet.price });
}
const report = pets.map((p) => `${p.name} the ${p.kind}`).join(", ");
console.log(`counted ${pets.length} pets`);
return { added: added.id, report, sum, words: await local.word_count({ text: report }), missing };
