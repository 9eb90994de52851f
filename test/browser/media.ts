import { onTestFinished, type TestContext } from 'vitest';
import { commands, server } from 'vitest/browser';
import type { Media } from './commands.ts';

const usual: Media = { forcedColors: 'none', colorScheme: 'light' };

/** Until the test is over. It is skipped where the browser cannot be driven to this: not in Chromium. */
export async function emulateMedia(context: TestContext, media: Partial<Media>): Promise<void> {
  const wanted = { ...usual, ...media };
  onTestFinished(() => commands.emulateMedia(usual));
  await commands.emulateMedia(wanted);
  const isSo =
    matchMedia(`(forced-colors: ${wanted.forcedColors})`).matches &&
    matchMedia(`(prefers-color-scheme: ${wanted.colorScheme})`).matches;
  if (!isSo && server.browser === 'chromium') throw new Error('The media are not emulated.');
  context.skip(!isSo, 'the media cannot be emulated');
}
