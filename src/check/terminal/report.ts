import { groups } from '../requirements/all.ts';
import type { Report, Result } from '../run.ts';
import type { Settings } from '../settings.ts';

type Kind = Result['finding']['kind'];

const having = (results: readonly Result[], kind: Kind): Result[] =>
  results.filter(({ finding }) => finding.kind === kind);

/** 0 when nothing is violated, 1 when something is, 2 when the check could not be run to its end. */
export function exitCodeOf({ results, stopped }: Report, isStrict: boolean): 0 | 1 | 2 {
  if (stopped !== undefined) return 2;
  const counts = having(results, 'violated').filter(({ level }) => level === 'must' || isStrict);
  return counts.length > 0 ? 1 : 0;
}

function linesOf(group: string, results: readonly Result[]): string[] {
  const own = results.filter((result) => result.group === group);
  const met = having(own, 'met').length;
  const lines = own.flatMap(({ id, level, sentence, source, finding }) => {
    if (finding.kind === 'violated')
      return [
        `  ✗ ${id} (${level}): ${sentence}`,
        `      ${finding.seen}`,
        `      source: ${source}`,
      ];
    return finding.kind === 'unknown'
      ? [`  ? ${id}: ${sentence}`, `      not found out: ${finding.why}`]
      : [];
  });
  if (met === 0 && lines.length === 0) return [];
  return [group, ...(met > 0 ? [`  ✓ ${met} met`] : []), ...lines, ''];
}

/** The options that would have let more be tried, each with how many requirements need it. */
function optionsMissing(results: readonly Result[]): string[] {
  const counts = new Map<string, number>();
  for (const { finding } of having(results, 'skipped')) {
    if (finding.kind !== 'skipped' || !finding.why.startsWith('needs ')) continue;
    const option = finding.why.slice('needs '.length);
    counts.set(option, (counts.get(option) ?? 0) + 1);
  }
  return [...counts].map(([option, count]) => `  ${count} with ${option}`);
}

function evidenceOf({ answersTell, effectsCounted }: Report): string {
  const count = 'Only --count-url, or a --module with countEffects, shows it.';
  if (effectsCounted)
    return 'How often something was done: by the count of effects, and by the answers.';
  return answersTell
    ? `How often something was done: by the answers alone. What was done without an answer is not seen. ${count}`
    : `How often something was done is not known: the answers of two operations are alike. ${count}`;
}

/** The report that a person reads. */
export function formatReport(report: Report, { url, method, declared }: Settings): string {
  const { results, requests, elapsedMs, stopped } = report;
  const { profile, source } = declared;
  const format = (profile as { format?: string }).format ?? 'structured';
  const key =
    profile.header === undefined
      ? `${profile.body} in the body`
      : `${profile.header}, ${format === 'raw' ? 'bare' : 'in quotes'}`;
  const missing = optionsMissing(results);
  const bad = having(results, 'violated');
  const must = bad.filter(({ level }) => level === 'must').length;
  const [met, unknown, skipped] = (['met', 'unknown', 'skipped'] as const).map(
    (kind) => having(results, kind).length,
  );
  return [
    `${method} ${url.href}`,
    `Key: ${key}. Declared by ${source}.`,
    evidenceOf(report),
    '',
    ...groups.flatMap(({ title }) => linesOf(title, results)),
    ...(missing.length > 0 ? ['Not tried:', ...missing, ''] : []),
    ...(stopped === undefined ? [] : [`Stopped: ${stopped}`, '']),
    `${met} met, ${bad.length} violated (${must} must, ${bad.length - must} should), ${unknown} not found out, ${skipped} skipped.`,
    `${requests} requests in ${(elapsedMs / 1000).toFixed(1)} s.`,
  ].join('\n');
}

/** The report that a machine reads. */
export function toJsonReport(report: Report, { url, method }: Settings, exitCode: number): string {
  const { results, ...rest } = report;
  const flat = results.map(({ finding, ...requirement }) => ({ ...requirement, ...finding }));
  return JSON.stringify({ url: url.href, method, exitCode, ...rest, results: flat }, undefined, 2);
}
