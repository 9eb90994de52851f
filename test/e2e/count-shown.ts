/** What the queries show: how many show the same. */
export function count(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .map(([text, number]) => (texts.length > 1 ? `${number} ${text}` : text))
    .join(', ');
}
