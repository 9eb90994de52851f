import { readFileSync } from 'node:fs';
import { type Patch, replaceOnce } from '../run/patches.ts';

/** A test: its file, within test/, and its sentence. */
interface Holder {
  readonly file: string;
  readonly sentence: string;
}

/** The package with some of its text replaced. */
export interface Variant {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** The lines of what is switched off. */
  readonly lines?: number;
  /** The test that shows what a user loses without it, where no simulation does. */
  readonly heldBy?: Holder;
}

/** The text of a file of src. */
export const sourceOf = (file: string): string =>
  readFileSync(new URL(`../../src/core/${file}`, import.meta.url), 'utf8');

/** @throws Error when the package has no such text any more. */
export function checkPatches({ patches }: Variant): void {
  for (const patch of patches) replaceOnce(sourceOf(patch.file), patch);
}
