import { utimes } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Page } from 'playwright';
import type { BrowserCommand } from 'vitest/node';

/** What a user may have set in the browser, or in the system. */
export interface Media {
  readonly forcedColors: 'active' | 'none';
  readonly colorScheme: 'light' | 'dark';
}

declare module 'vitest/browser' {
  interface BrowserCommands {
    /** Makes a file look as if it was written long ago: browsers compare whole seconds. */
    ageFile: (path: string) => Promise<void>;
    /** Selects a file in an input of the window's own document. */
    pickFile: (id: string, path: string) => Promise<void>;
    emulateMedia: (media: Media) => Promise<void>;
  }
}

/** What a provider gives to commands: Playwright's a page, that of WebKit how to pick a file. */
interface Driven {
  readonly page?: Page;
  readonly pickFile?: (id: string, path: string) => Promise<void>;
}

/** What tests in the browser ask Node to do. */
export const browserCommands: {
  readonly ageFile: BrowserCommand<[path: string]>;
  readonly pickFile: BrowserCommand<[id: string, path: string]>;
  readonly emulateMedia: BrowserCommand<[media: Media]>;
} = {
  ageFile: ({ project }, path) => utimes(resolve(project.config.root, path), 1, 1),
  async pickFile({ project, ...context }, id, path) {
    const { page, pickFile }: Driven = context;
    const file = resolve(project.config.root, path);
    await (pickFile ? pickFile(id, file) : page?.locator(`[id="${id}"]`).setInputFiles(file));
  },
  async emulateMedia(context, media) {
    await (context as Driven).page?.emulateMedia(media);
  },
};
