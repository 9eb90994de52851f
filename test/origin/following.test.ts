import { expect, test } from 'vitest';
import { createGate } from '../../src/origin/gate.ts';
import type { Ear } from '../../src/origin/share.ts';
import { createVirtualClock, epochMs } from './virtual-clock.ts';

test('a tab that is given the lead just before it hears that the origin is well goes as soon as any other', () => {
  const clock = createVirtualClock();
  const ears: Ear[] = [];
  let isLeader = false;
  const gate = createGate(
    clock,
    () => 0.5,
    {},
    (ear) => {
      ears.push(ear);
      return {
        leads: () => isLeader,
        want: (isWanted) => void (isLeader &&= isWanted),
        say: () => {},
      };
    },
  );
  const [ear] = ears;
  ear?.hear({ kind: 'down', from: epochMs + 3000, until: epochMs + 60_000 });
  const turns: unknown[] = [];
  const ask = { endpoint: 'GET /a', risk: 0, isNew: false, isFailFast: false } as const;
  const priority = 'user-visible';
  gate.wait({ ...ask, priority, holdMs: 60_000, onHold: () => {} }, (turn) =>
    turns.push([turn, clock.elapsed()]),
  );
  clock.advance(1000);
  isLeader = true;
  ear?.lead();
  ear?.hear({ kind: 'up', until: clock.now() });
  clock.advance(10_000);
  // It waits for half of the two seconds within which tabs come back, as the draw has it.
  expect(turns).toEqual([['go', 2000]]);
  expect(isLeader).toBe(false);
});
