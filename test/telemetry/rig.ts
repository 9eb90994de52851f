import { createSteadfetch, type SteadfetchConfig } from 'steadfetch';
import { onTestFinished } from 'vitest';
import { fakeServer, type Handler, origin } from '../core/fetch/fake-server.ts';

export const url = `${origin}/items`;
export const startedAt = 1_800_000_000_000;

/** An instance in which two failures in a row are an outage of their endpoint. */
export function open(
  handlers: readonly [Handler, ...Handler[]],
  config: Omit<SteadfetchConfig, 'fetch'> = {},
) {
  const server = fakeServer(...handlers);
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...config });
  onTestFinished(() => steady.dispose());
  return { server, steady };
}
