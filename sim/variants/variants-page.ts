import { table } from '../report/table.ts';
import { type Column, isClearlyWorse } from './columns.ts';
import { type Extent, measure, type Shown } from './measure.ts';
import { checkPatches, type Variant } from './variant.ts';

/** A table of a page: some of the figures, of some of the variants. */
interface Section {
  readonly title: string;
  readonly text?: string;
  readonly variants: readonly Variant[];
  readonly columns: readonly Column[];
  /** What its columns are read from. */
  readonly extent: Extent;
}

export interface VariantsPage {
  readonly introduction: string;
  /** What the package as it is is called. */
  readonly base: string;
  readonly sections: readonly Section[];
}

interface Options {
  readonly onProgress: (done: number, of: number) => void;
}

/** Runs the package as it is, and each variant; each once, in however many sections it is. */
export async function writeVariantsPage(
  { introduction, base, sections }: VariantsPage,
  { onProgress }: Options,
): Promise<string> {
  const variants = [...new Set(sections.flatMap((section) => section.variants))];
  for (const variant of variants) checkPatches(variant);
  const all = await measure([], extentOf(sections));
  const shown = new Map<Variant, Shown>();
  for (const variant of variants) {
    onProgress(shown.size + 1, variants.length + 1);
    const own = sections.filter((section) => section.variants.includes(variant));
    shown.set(variant, await measure(variant.patches, extentOf(own)));
  }
  onProgress(variants.length + 1, variants.length + 1);
  const tables = sections.map((section) => {
    const { title, text, columns } = section;
    const hasLines = section.variants.some(({ lines }) => lines !== undefined);
    const hasHolders = section.variants.some(({ heldBy }) => heldBy);
    const usual = columns.map((column) => column.read(all));
    const cells = (own: Shown): string[] =>
      columns.map((column, index) => {
        const value = column.read(own);
        const written = column.show(value);
        return isClearlyWorse(column, value, usual[index] ?? NaN) ? `**${written}**` : written;
      });
    const linesCell = (lines?: number): string[] => (hasLines ? [`${lines ?? ''}`] : []);
    const holderCell = (heldBy?: Variant['heldBy']): string[] =>
      hasHolders ? [heldBy ? `${heldBy.file}: ${heldBy.sentence}` : ''] : [];
    const rows = [
      [base, ...linesCell(), ...cells(all), ...holderCell()],
      ...section.variants.map((variant) => [
        variant.name,
        ...linesCell(variant.lines),
        ...cells(shown.get(variant) ?? all),
        ...holderCell(variant.heldBy),
      ]),
    ];
    const head = [
      '',
      ...(hasLines ? ['lines'] : []),
      ...columns.map((column) => column.head),
      ...(hasHolders ? ['held by'] : []),
    ];
    return `## ${title}\n\n${text === undefined ? '' : `${text}\n\n`}${table(head, rows)}`;
  });
  return [introduction, ...tables].join('\n\n');
}

/** All that some sections are about. */
function extentOf(sections: readonly Section[]): Extent {
  const extents = sections.map(({ extent }) => extent);
  return {
    hasUser: extents.some(({ hasUser }) => hasUser),
    partial: [...new Set(extents.flatMap(({ partial }) => partial))],
    storms: [...new Set(extents.flatMap(({ storms }) => storms))],
  };
}
