import { readdirSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

const read = /\.[cm]?[jt]sx?$/;
const skipped =
  /\.d\.[cm]?ts$|\.min\.js$|\.(?:test|spec|stories)\.[cm]?[jt]sx?$|^test(?:[-_.]|[A-Z])|^setup-?[Tt]ests?\b/;
const folders =
  /^(?:\..*|__\w+__|build|coverage|cypress|dist|e2e|node_modules|out|testing|tests?|vendor)$/;

/** The files of a folder that the doctor reads; a file that is named itself is read whatever it is called. */
export function* filesIn(path: string): Generator<string> {
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const { name } = entry;
    if (entry.isDirectory()) {
      if (!folders.test(name)) yield* filesIn(join(path, name));
    } else if (entry.isFile() && read.test(name) && !skipped.test(name)) yield join(path, name);
  }
}

/** With slashes on every system. */
export const toPosix = (path: string): string => path.replaceAll(sep, '/');
