import fc from 'fast-check';
import { afterEach, beforeEach, test, vi } from 'vitest';
import { play, session } from './links-model.ts';

/**
 * More of them: `LINKS_SESSIONS=10000 npx vitest run --config test/vitest.config.ts --project node test/outbox/links-model`.
 * These have their rows in memory, so that it takes minutes, not hours. `LINKS_SEED` repeats a run.
 */
const sessions = Number(process.env['LINKS_SESSIONS'] ?? 40);
const seed = Number(process.env['LINKS_SEED'] ?? 20_261);

vi.mock(import('../../src/outbox/store/disk.ts'), async (original) => {
  const real = await original();
  if (process.env['LINKS_SESSIONS'] === undefined) return real;
  const { openInMemory } = await import('./memory-disk.ts');
  const lost = (): Error => new real.DatabaseError('lost');
  return { ...real, openIndexedDb: async (name) => openInMemory(name, lost) };
});

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

test(`a day offline, with reloads and two tabs, ends as the same day online (${sessions} sessions, seed ${seed})`, async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(session, async (day) => {
      count += 1;
      if (count % 500 === 0) console.error(`${count} sessions`);
      await play(day);
    }),
    { seed, numRuns: sessions, endOnFailure: true },
  );
}, 36_000_000);
