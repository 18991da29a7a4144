async function use() {
  const issue = await api.create_issue({ title: 'x', state: 'open' });
  const id: number | undefined = issue.parent?.parent?.id;
  await api.list();
  // @ts-expect-error a title is required
  await api.create_issue({});
  // @ts-expect-error the state is misspelt
  await api.create_issue({ title: 'x', state: 'opened' });
  return id;
}
void use;
