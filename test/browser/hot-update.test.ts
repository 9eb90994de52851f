import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, shareAcrossTabs, type Steadfetch } from 'steadfetch';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { beforeEach, expect, onTestFinished, test } from 'vitest';

// `npm run ssr` makes edits in the dev servers. Here the versions of a module are evaluated, and used, in an order
// that is given.

let files = 0;
let path = '';
beforeEach(() => {
  path = `/app/route-${++files}.tsx`;
});

async function evaluateAt<T>(address: string, make: () => T, run = 'make()'): Promise<T> {
  Object.assign(globalThis, { make });
  const source = `export const made = ${run};\n//# sourceURL=${location.origin}${address}`;
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const { made } = (await import(/* @vite-ignore */ url)) as { readonly made: T };
  return made;
}

/** Evaluates a version of the module, at the address that Vite gives it: the first has no time. */
const evaluate = <T>(make: () => T, time?: number): Promise<T> =>
  evaluateAt(`${path}${time === undefined ? '' : `?t=${time}`}`, make);

/** The same as Turbopack does: the code of a chunk, or of a module that was edited, has a body of this name. */
const inBody = <T>(address: string, make: () => T, line = 1): Promise<T> =>
  evaluateAt(
    address,
    make,
    `Object.defineProperty(${'\n'.repeat(line)}() => make(), 'name', { value: 'module evaluation' })()`,
  );

interface Instance {
  readonly steady: Steadfetch;
  readonly use: () => Promise<unknown>;
}

/** What makes instances with names, and says which of them have been disposed of and which have a channel. */
function createLab() {
  const disposed: string[] = [];
  const open: string[] = [];
  const note = <T extends { dispose: () => void }>(name: string, made: T): T => {
    const { dispose } = made;
    made.dispose = () => {
      disposed.push(name);
      dispose();
    };
    onTestFinished(dispose);
    return made;
  };
  const instance = (name: string) => (): Instance => {
    const tabs = shareAcrossTabs({
      open() {
        open.push(name);
        return { post() {}, close: () => void open.splice(open.indexOf(name), 1) };
      },
      watch(listener) {
        listener('visible');
        return () => {};
      },
    });
    const fetch = async (): Promise<Response> => Response.json(name);
    const steady = note(name, createSteadfetch({ tabs, fetch }));
    return { steady, use: () => steady.json('/api/products') };
  };
  return { disposed, open, note, instance };
}

test('an edit disposes of what the version before has made, used or not', async () => {
  const { disposed, open, instance } = createLab();
  const first = await evaluate(instance('first'));
  await first.use();
  expect(open).toEqual(['first']);
  await evaluate(instance('second'), 20_000);
  expect([disposed, open]).toEqual([['first'], []]);
  const third = await evaluate(instance('third'), 40_000);
  expect(disposed).toEqual(['first', 'second']);
  await third.use();
  expect(open).toEqual(['third']);
});

test('of an edit that makes three versions, the one that is used keeps its channel', async () => {
  const { disposed, open, instance } = createLab();
  const before = await evaluate(instance('before'));
  await before.use();
  // React Router: the one of the oldest time is evaluated last, and perhaps never shown.
  await evaluate(instance('a'), 20_032);
  const shown = await evaluate(instance('b'), 20_036);
  expect(disposed).toEqual(['before']);
  await shown.use();
  expect([disposed, open]).toEqual([['before', 'a'], ['b']]);
  const last = await evaluate(instance('c'), 20_000);
  await shown.use();
  expect([disposed, open]).toEqual([['before', 'a'], ['b']]);
  // The edit of another module shows it.
  await last.use();
  expect([disposed, open]).toEqual([['before', 'a', 'b'], ['c']]);
  await evaluate(instance('after'), 40_000);
  expect([disposed, open]).toEqual([['before', 'a', 'b', 'c'], []]);
});

test('whatever one version has made goes with it, also what its code makes when it was replaced', async () => {
  const { disposed, instance } = createLab();
  await evaluate(instance('first'));
  await evaluate(instance('second'), 20_000);
  await evaluate(instance('late'));
  await evaluate(instance('second again'), 20_000);
  expect(disposed).toEqual(['first']);
  const third = await evaluate(instance('third'), 40_000);
  expect(disposed).toEqual(['first', 'second', 'late', 'second again']);
  await third.use();
  expect(disposed).toEqual(['first', 'second', 'late', 'second again']);
});

test('Turbopack: an edited module is known by its id, and one of its chunk by its place there', async () => {
  const { disposed, instance } = createLab();
  const chunk = `${path}.chunk.js`;
  const edited = `${chunk}?id=%255Bproject%255D/app/steady.ts+%255Bapp-client%255D+(ecmascript)`;
  const pair = (name: string) => () => [instance(name)(), instance(`${name}, too`)()];
  await inBody(chunk, pair('loaded'), 1);
  await inBody(chunk, instance('elsewhere'), 2);
  expect(disposed).toEqual([]);
  // What it imports was edited.
  await inBody(chunk, instance('loaded again'), 1);
  expect(disposed).toEqual(['loaded', 'loaded, too']);
  await inBody(edited, pair('second'));
  await inBody(edited, instance('third'), 2);
  expect(disposed).toEqual(['loaded', 'loaded, too', 'second', 'second, too']);
});

test('an outbox is used when a component shows it, or something is submitted to it', async () => {
  const { disposed, note, instance } = createLab();
  const { steady } = instance('its instance')();
  const send = outboxHandler<string, string>({
    mutationFn: async (text) => text,
    idempotent: true,
  });
  const outbox = (name: string) => () =>
    note(
      name,
      createOutbox({ steady, queryClient: new QueryClient(), handlers: { send }, name: path }),
    );
  await evaluate(outbox('a'), 20_000);
  const shown = await evaluate(outbox('b'), 20_001);
  const last = await evaluate(outbox('c'), 20_002);
  expect(disposed).toEqual([]);
  onTestFinished(shown.subscribe(() => {}));
  expect(disposed).toEqual(['a']);
  expect(await last.submit('send', 'lamp').delivered).toBe('lamp');
  expect(disposed).toEqual(['a', 'b']);
});
