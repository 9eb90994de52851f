import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Fate, type Handlers, World } from './model.ts';
import { type Fault, settle } from './rig.ts';
import { histories } from '../setup/histories.ts';

const seed = 61_106;

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

type Command = fc.AsyncCommand<object, World>;

/** A command that can always be given, and says by itself what it does. */
function command(text: string, act: (world: World) => void | Promise<void>): Command {
  return {
    check: () => true,
    async run(_, world) {
      await act(world);
      await settle();
      await settle();
      await world.check();
    },
    toString: () => text,
  };
}

const index = fc.nat({ max: 11 });
const anyFate = fc.constantFrom<Fate[]>(
  'done',
  'done-then-cut',
  'done-then-503',
  'cut',
  '503',
  '422',
);
const anyFault = fc.constantFrom<Fault[]>('write', 'all', 'quota', 'abort');
const anyScope = fc.constantFrom('a', 'b', undefined);
const anyTime = fc.constantFrom(100, 1000, 5000, 20_000, 60_000, 600_000);

const many = (weight: number, arbitrary: fc.Arbitrary<Command>): fc.Arbitrary<Command>[] =>
  Array.from({ length: weight }, () => arbitrary);

const commands = [
  ...many(
    4,
    fc
      .tuple(index, anyScope, fc.boolean())
      .map(([tab, scope, isNote]) =>
        command(`submit in tab ${tab}, scope ${scope}${isNote ? ', a note' : ''}`, (world) =>
          world.submit(tab, scope, isNote),
        ),
      ),
  ),
  ...many(
    5,
    fc
      .tuple(index, anyFate)
      .map(([nth, fate]) => command(`answer ${nth}: ${fate}`, (world) => world.answer(nth, fate))),
  ),
  ...many(
    3,
    anyTime.map((ms) => command(`${ms} ms pass`, (world) => world.pass(ms))),
  ),
  ...many(
    2,
    index.map((tab) => command(`crash tab ${tab}`, (world) => world.crash(tab))),
  ),
  index.map((tab) => command(`freeze tab ${tab}`, (world) => world.freeze(tab))),
  index.map((tab) => command(`thaw tab ${tab}`, (world) => world.thaw(tab))),
  fc.constantFrom<Handlers[]>('all', 'all', 'no-notes').map((handlers) =>
    command(`open a tab with ${handlers}`, (world) => {
      if (world.tabs.filter(({ state }) => state !== 'gone').length < 4) world.open(handlers);
    }),
  ),
  ...many(
    2,
    fc
      .tuple(index, fc.constantFrom('retry' as const, 'edit' as const, 'discard' as const), index)
      .map(([tab, what, which]) =>
        command(`${what} ${which} in tab ${tab}`, (world) => world.decide(tab, what, which)),
      ),
  ),
  index.map((tab) => command(`clear in tab ${tab}`, (world) => world.clear(tab))),
  fc
    .tuple(index, anyFault)
    .map(([tab, fault]) =>
      command(`the database of tab ${tab}: ${fault}`, (world) => world.fail(tab, fault)),
    ),
  index.map((tab) =>
    command(`the database of tab ${tab} is well`, (world) => world.fail(tab, 'none')),
  ),
  fc
    .constantFrom(-3_600_000, -5000, 5000, 3_600_000)
    .map((ms) => command(`the clock is set by ${ms} ms`, (world) => world.setClock(ms))),
  fc
    .constantFrom(60_000, 3_600_000)
    .map((ms) => command(`the machine sleeps ${ms} ms`, ({ browser }) => browser.clock.sleep(ms))),
];

test(`nothing is lost, nothing is done twice, and the order is kept, whatever happens to two to four tabs (seed ${seed})`, async () => {
  const worlds = fc.record({
    hasLocks: fc.boolean(),
    steps: fc.commands(commands, { maxCommands: 30, size: 'max' }),
  });
  await fc.assert(
    fc.asyncProperty(worlds, async ({ hasLocks, steps }) => {
      const world = new World(hasLocks, 1);
      try {
        world.open('all');
        world.open('all');
        await settle();
        await fc.asyncModelRun(() => ({ model: {}, real: world }), steps);
        expect(await world.end()).toEqual([]);
      } finally {
        world.close();
      }
    }),
    histories(seed, 160),
  );
});
