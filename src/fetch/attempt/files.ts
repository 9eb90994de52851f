import { filesIn, findUnreadable } from '../../lib/body-parts.ts';
import { isEngine } from '../../lib/browser/page.ts';
import { optionOf } from '../init.ts';

/** The error of a body with a file that cannot be read. */
export async function unreadableIn(body: unknown, cause?: unknown): Promise<TypeError | undefined> {
  const file = await findUnreadable(body);
  if (!file) return undefined;
  const name = file.name ? `The file "${file.name}"` : 'A file';
  return new TypeError(`${name} was changed, moved or removed. Select it again.`, { cause });
}

/**
 * Reads a little of each file that is to be sent, because Firefox and WebKit promise the length of one that was
 * changed or removed, and then send other bytes or wait for ever. Undefined where there is none; with `keepalive`
 * the page may be going, so nothing is awaited.
 *
 * @throws TypeError for one that cannot be read.
 */
export function checkFiles(input: RequestInfo | URL, init: RequestInit): Promise<void> | undefined {
  const hasFile = isEngine() && filesIn(init.body).some((file) => 'name' in file);
  return hasFile && !optionOf(input, init, 'keepalive') ? requireReadable(init.body) : undefined;
}

async function requireReadable(body: unknown): Promise<void> {
  const error = await unreadableIn(body);
  if (error) throw error;
}
