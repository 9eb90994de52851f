import { utimes } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { BrowserCommand } from 'vitest/node';

declare module 'vitest/browser' {
  interface BrowserCommands {
    /** Makes a file look as if it was written long ago: browsers compare whole seconds. */
    ageFile: (path: string) => Promise<void>;
  }
}

/** What tests in the browser ask Node to do. */
export const browserCommands: { readonly ageFile: BrowserCommand<[path: string]> } = {
  ageFile: ({ project }, path) => utimes(resolve(project.config.root, path), 1, 1),
};
