import { registerHooks } from 'node:module';

/** A piece of the package that is to be another one in this worker. */
export interface Patch {
  /** Within src/core/. */
  readonly file: string;
  /** It must be there exactly once. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Lets the modules that are imported from now on have other text. So the package needs no switch for
 * what only an experiment switches off. Text that is not there as often as it must be is an error:
 * the experiment would show nothing.
 */
export function applyPatches(patches: readonly Patch[]): void {
  if (patches.length === 0) return;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const own = patches.filter(({ file }) => url.endsWith(`/src/core/${file}`));
      if (own.length === 0) return loaded;
      // Node gives it as bytes.
      const text = Buffer.from(loaded.source as Uint8Array).toString();
      return { ...loaded, source: own.reduce(replaceOnce, text) };
    },
  });
}

export function replaceOnce(source: string, { file, find, replace }: Patch): string {
  const count = source.split(find).length - 1;
  if (count !== 1) throw new Error(`${file} has ${count} times, and not once: ${find}`);
  return source.replace(find, () => replace);
}
