import { readFileSync } from 'node:fs';
import { type Patch, replaceOnce } from '../run/patches.ts';

/** Something in src/origin that is to earn its lines. */
export interface Mechanism {
  readonly name: string;
  /** What the package is without it. */
  readonly patches: readonly Patch[];
  /** The files that it is all of; else its lines are those that `lines` counts. */
  readonly files?: readonly string[];
  readonly lines?: number;
}

const sourceOf = (file: string): string =>
  readFileSync(new URL(`../../src/${file}`, import.meta.url), 'utf8');

/** How many lines of src it takes. */
export function linesOf({ files = [], lines = 0 }: Mechanism): number {
  return files.reduce((sum, file) => sum + sourceOf(file).split('\n').length - 1, lines);
}

/** @throws Error when the package has no such text any more. */
export function checkPatches({ patches }: Mechanism): void {
  for (const patch of patches) replaceOnce(sourceOf(patch.file), patch);
}
