import { readFileSync, writeFileSync } from 'node:fs';

const page = 'docs/exactly-once/tests.md';

/** Where a part of the page that a command makes begins and ends. */
function findSection(name: string): { readonly before: string; readonly from: number; to: number } {
  const before = readFileSync(page, 'utf8');
  const start = `<!-- ${name} -->`;
  const [at, to] = [before.indexOf(start), before.indexOf(`<!-- end of ${name} -->`)];
  if (at < 0 || to < at) throw new Error(`${page} has no section ${name}.`);
  return { before, from: at + start.length, to };
}

/** Writes a part of the page that a command makes. */
export function writeSection(name: string, text: string): void {
  const { before, from, to } = findSection(name);
  writeFileSync(page, `${before.slice(0, from)}\n\n${text}\n\n${before.slice(to)}`);
}

/** The rows of the table of a part, without its head. */
export function readRows(name: string): readonly (readonly string[])[] {
  const { before, from, to } = findSection(name);
  const lines = before.slice(from, to).split('\n');
  const rows = lines.filter((line) => line.startsWith('|')).slice(2);
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}
