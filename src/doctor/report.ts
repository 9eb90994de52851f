import type { Finding } from './diagnose.ts';

/** The findings in all files. */
export interface Report {
  /** How many were read. */
  readonly files: number;
  readonly findings: readonly Finding[];
  readonly suppressed: number;
  readonly notes: readonly string[];
  /** Files that could not be read or parsed. */
  readonly skipped: readonly { readonly file: string; readonly reason: string }[];
}

const count = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The report that a person reads. */
export function formatReport({ files, findings, suppressed, notes, skipped }: Report): string {
  const lines = findings.flatMap(({ file, line, column, rule, why, remedy, page }) => [
    `${file}:${line}:${column} ${rule}`,
    `  ${why}`,
    `  ${remedy} (${page})`,
    '',
  ]);
  const unread = skipped.map(({ file, reason }) => `${file} is skipped: ${reason}`);
  const ending = suppressed > 0 ? `, ${suppressed} suppressed` : '';
  return [
    ...lines,
    ...notes,
    ...unread,
    `${count(findings.length, 'finding')} in ${count(files, 'file')}${ending}.`,
  ].join('\n');
}
