/** Options as one would write them in code. */
export function formatOptions(options: object): string {
  const entries = Object.entries(options).map(([name, value]) =>
    typeof value === 'string' ? `${name}: '${value}'` : `${name}: ${value}`,
  );
  return `{ ${entries.join(', ')} }`;
}
