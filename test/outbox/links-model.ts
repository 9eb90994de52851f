import { deepEqual, ok } from 'node:assert/strict';
import fc from 'fast-check';
import { answerOf, coalesceUnsent, outboxHandler, outboxLinks } from 'steadfetch/outbox';
import { api, type Arrival, createBrowser, longestStepMs, type TestBrowser } from './rig.ts';

/** One act of a user, by its number; or what happens to the pages and the server meanwhile. */
type Step =
  | { readonly kind: 'create'; readonly tab: number; readonly isBad: boolean }
  | {
      readonly kind: 'child' | 'edit' | 'delete';
      readonly tab: number;
      /** Which thing it is about: one that was created before. */
      readonly which: number;
      readonly isBad: boolean;
      /** By the real id, where the page knows it. */
      readonly isById: boolean;
    }
  | { readonly kind: 'answer'; readonly fates: readonly Fate[] }
  | { readonly kind: 'reload'; readonly tab: number }
  | { readonly kind: 'pass'; readonly ms: number };

/** How the server, or the way to it, treats a request. */
type Fate = 'done' | 'done-then-cut' | 'cut' | '503';

export interface Session {
  readonly isCoalescing: boolean;
  /** What is refused are things without a parent; in the end the server takes them, and they are sent again. */
  readonly isHealing: boolean;
  readonly steps: readonly Step[];
}

const tab = fc.nat({ max: 1 });
const which = fc.nat({ max: 200 });
const isBad = fc.integer({ min: 1, max: 8 }).map((one) => one === 1);
const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('done') },
  { weight: 2, arbitrary: fc.constant<Fate>('done-then-cut') },
  { weight: 1, arbitrary: fc.constant<Fate>('cut') },
  { weight: 1, arbitrary: fc.constant<Fate>('503') },
);
const stepAbout = (kind: 'child' | 'edit' | 'delete'): fc.Arbitrary<Step> =>
  fc.record({ kind: fc.constant(kind), tab, which, isBad, isById: fc.boolean() });

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('create' as const), tab, isBad }) },
  { weight: 4, arbitrary: stepAbout('child') },
  { weight: 6, arbitrary: stepAbout('edit') },
  { weight: 2, arbitrary: stepAbout('delete') },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      fates: fc.array(fate, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), tab }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(100, 2000, 15_000),
    }),
  },
);

/** Most days are short, and some have 200 entries. */
export const session: fc.Arbitrary<Session> = fc.record({
  isCoalescing: fc.boolean(),
  isHealing: fc.boolean(),
  steps: fc.oneof(
    { weight: 40, arbitrary: fc.array(anyStep, { minLength: 1, maxLength: 16, size: 'max' }) },
    { weight: 8, arbitrary: fc.array(anyStep, { minLength: 1, maxLength: 60, size: 'max' }) },
    { weight: 1, arbitrary: fc.array(anyStep, { minLength: 100, maxLength: 290, size: 'max' }) },
  ),
});

/** A thing as the server has it, by the number that its user gave it. */
interface Thing {
  readonly parent: number | undefined;
  title: number;
}

/** An act of a user, with the thing that it is about. */
interface Act {
  readonly kind: 'create' | 'child' | 'edit' | 'delete';
  /** The number of the act, which is also that of the thing that it makes. */
  readonly n: number;
  readonly about: number | undefined;
  readonly isBad: boolean;
}

/** Which things there are in the end, online; which acts are refused, and which could not be, for want of an id. */
function online(acts: readonly Act[], isHealed: boolean) {
  const ever = new Set<number>();
  const things = new Map<number, Thing>();
  const refused = new Set<number>();
  const stopped = new Set<number>();
  for (const { kind, n, about: thing, isBad: isRefused } of acts) {
    if (thing !== undefined && !ever.has(thing)) {
      stopped.add(n);
      continue;
    }
    const known = thing === undefined ? undefined : things.get(thing);
    // A deletion is one however often it comes, and has no key.
    const isGone = thing !== undefined && !known && kind !== 'delete';
    if (isGone || (isRefused && !isHealed)) refused.add(n);
    else if (kind === 'delete' && thing !== undefined) things.delete(thing);
    else if (kind === 'edit' && known) known.title = n;
    else {
      ever.add(n);
      things.set(n, { parent: thing, title: n });
    }
  }
  return { things, refused, stopped };
}

const sorted = (things: ReadonlyMap<number, Thing>) =>
  [...things].toSorted(([one], [other]) => one - other);

const handlersOf = (isCoalescing: boolean) => ({
  create: outboxHandler({
    mutationFn: (body: { n: number; title: number; parent?: number; isBad: boolean }, { json }) =>
      json<{ id: number }>(`${api}/things`, { method: 'POST', json: body }),
    // A child comes in the order of the changes of its parent.
    scope: ({ parent }) => (parent === undefined ? undefined : `thing ${parent}`),
    onDead: 'pass',
  }),
  edit: outboxHandler({
    mutationFn: (
      { id, ...body }: { id: number; n: number; title: number; isBad: boolean },
      { json },
    ) => json(`${api}/things/${id}`, { method: 'PATCH', json: body }),
    scope: ({ id }) => `thing ${id}`,
    onDead: 'pass',
    coalesce: isCoalescing
      ? {
          by: ({ id }) => `${id}`,
          merge: (earlier, { title }) =>
            earlier.handler === 'delete'
              ? 'both'
              : { variables: { ...(earlier.variables as object), title } },
        }
      : undefined,
  }),
  delete: outboxHandler({
    mutationFn: ({ id }: { id: number; n: number }, { fetch }) =>
      fetch(`${api}/things/${id}`, { method: 'DELETE' }),
    scope: ({ id }) => `thing ${id}`,
    onDead: 'pass',
    coalesce: isCoalescing
      ? {
          by: ({ id }) => `${id}`,
          merge: ({ handler }) => (handler === 'create' ? 'neither' : 'both'),
        }
      : undefined,
  }),
});

/** A server that does each key once, and says so again. */
class Server {
  readonly things: Map<number, Thing> = new Map();
  /** What it should never have seen. */
  readonly faults: string[] = [];
  isHealed = false;
  isOpen = false;
  readonly ids: Map<number, number> = new Map();
  readonly #numbers: Map<number, number> = new Map();
  readonly #answers: Map<
    string,
    { readonly bytes: string; readonly status: number; readonly id: number }
  > = new Map();
  #held: Arrival[] = [];

  receive(arrival: Arrival): void {
    this.#held.push(arrival);
    if (this.isOpen) this.answer('done');
  }

  /** Answers the request that came first. */
  answer(how: Fate): void {
    this.#held = this.#held.filter((one) => !one.isAborted());
    const arrival = this.#held.shift();
    if (!arrival) return;
    if (how === 'cut') return arrival.cut();
    if (how === '503') return arrival.answer(503);
    const { status, id } = this.#process(arrival);
    if (how === 'done-then-cut') arrival.cut();
    else arrival.answer(status, { id });
  }

  answerAll(): void {
    this.isOpen = true;
    while (this.#held.length > 0) this.answer('done');
  }

  #process({ method, url, key, body }: Arrival) {
    const bytes = `${method} ${url} ${body}`;
    if (bytes.includes('steadfetch~')) this.faults.push(`a reference was sent: ${bytes}`);
    if (key === null && method !== 'DELETE') this.faults.push(`without a key: ${bytes}`);
    if (key === null) return this.#do(method, url.split('/').at(-1) ?? '', body);
    const known = this.#answers.get(key);
    // Healed, it takes what it has refused, also under a key that has seen the refusal.
    if (known && !(this.isHealed && known.status === 422)) {
      if (bytes !== known.bytes) this.faults.push(`two payloads: ${bytes}, ${known.bytes}`);
      return known;
    }
    const answer = { bytes, ...this.#do(method, url.split('/').at(-1) ?? '', body) };
    this.#answers.set(key, answer);
    return answer;
  }

  #do(
    method: string,
    path: string,
    body: string,
  ): { readonly status: number; readonly id: number } {
    const {
      n,
      title,
      parent,
      isBad: isRefused,
    } = JSON.parse(body || '{}') as {
      n: number;
      title: number;
      parent?: number;
      isBad: boolean;
    };
    const refused = { status: 422, id: 0 };
    if (isRefused && !this.isHealed) return refused;
    const about = method === 'POST' ? parent : Number(path);
    const number = about === undefined ? undefined : this.#numbers.get(about);
    const thing = number === undefined ? undefined : this.things.get(number);
    if (method === 'DELETE' && number !== undefined) this.things.delete(number);
    else if (about !== undefined && !thing) return refused;
    else if (method === 'PATCH' && thing) thing.title = title;
    else {
      const id = this.ids.size + 1000;
      this.ids.set(n, id);
      this.#numbers.set(id, n);
      this.things.set(n, { parent: number, title });
      return { status: 201, id };
    }
    return { status: 200, id: about ?? 0 };
  }
}

type Tab = ReturnType<ReturnType<typeof opener>>;
const opener = (browser: TestBrowser, isCoalescing: boolean) => {
  const handlers = handlersOf(isCoalescing);
  return () => browser.openTab({ handlers, links: outboxLinks({ coalesce: coalesceUnsent() }) });
};

/** Plays a session, and compares its end with that of the same one online. */
export async function play({ isCoalescing, isHealing, steps }: Session): Promise<void> {
  const browser = createBrowser();
  const server = new Server();
  browser.server.rule = (arrival) => server.receive(arrival);
  const open = opener(browser, isCoalescing);
  const tabs: Tab[] = [open(), open()];
  const acts: Act[] = [];
  const keys: string[] = [];
  const told = new Map<number, number>();
  let saving: Promise<unknown> = Promise.resolve();
  let last = 0;
  await turn();
  /** The page learns the id of what it has made. */
  const learn = async (n: number, delivered: Promise<unknown>): Promise<void> => {
    const { id } = Object(await delivered.catch(() => {})) as { readonly id?: number };
    if (id !== undefined && server.ids.get(n) === id) told.set(n, id);
  };
  const submit = (act: Exclude<Step, { kind: 'answer' | 'reload' | 'pass' }>): void => {
    const made = acts.filter(({ kind }) => kind === 'create' || kind === 'child');
    const about = act.kind === 'create' ? undefined : made[act.which % made.length]?.n;
    if (act.kind !== 'create' && about === undefined) return;
    const n = acts.length;
    // What is merged is refused together, and what is refused late comes too late for what comes after it.
    const isOfRoot = act.kind === 'create';
    const isRefusable = isHealing ? isOfRoot : isOfRoot || act.kind === 'child' || !isCoalescing;
    const isRefused = act.isBad && isRefusable && act.kind !== 'delete';
    acts.push({ kind: act.kind, n, about, isBad: isRefused });
    const { outbox } = tabs[act.tab] as Tab;
    const real = act.kind !== 'create' && act.isById ? told.get(about ?? -1) : undefined;
    const id = real ?? answerOf<number>(keys[about ?? -1] ?? 'none', 'id');
    const body = { n, title: n, isBad: isRefused };
    const submitted =
      act.kind === 'create'
        ? outbox.submit('create', body)
        : act.kind === 'child'
          ? outbox.submit('create', { ...body, parent: id })
          : act.kind === 'edit'
            ? outbox.submit('edit', { ...body, id })
            : outbox.submit('delete', { n, id });
    keys.push(submitted.idempotencyKey);
    saving = Promise.all([saving, submitted.saved]);
    void learn(n, submitted.delivered);
  };
  for (const step of steps) {
    // What another page refers to, and what is to outlive its page, is saved.
    if ('tab' in step && (step.tab !== last || step.kind === 'reload')) await finish(saving, turn);
    if ('tab' in step) last = step.tab;
    if (step.kind === 'reload') {
      tabs[step.tab]?.crash();
      tabs[step.tab] = open();
      await turn();
    } else if (step.kind === 'pass') {
      for (let left = step.ms; left > 0; left -= longestStepMs) {
        browser.clock.advance(Math.min(left, longestStepMs));
        await turn();
      }
    } else if (step.kind === 'answer') {
      await turn();
      for (const how of step.fates) {
        server.answer(how);
        await turn();
      }
    } else submit(step);
  }
  await finish(saving, turn);
  server.answerAll();
  const rows = await quiet(browser, tabs);
  const expected = online(acts, false);
  deepEqual(server.faults, []);
  deepEqual(
    sorted(server.things),
    sorted(expected.things),
    'the things are those of the same day online',
  );
  const numbers = rows.map(({ variables }) => (variables as { n: number }).n);
  const dead = numbers.toSorted((one, other) => one - other);
  const lost = [...expected.refused, ...expected.stopped].toSorted((one, other) => one - other);
  if (!isCoalescing) {
    deepEqual(dead, lost, 'exactly those are dead letters that could not be done online');
    const stopped = rows.filter(({ deadReason }) => deadReason === 'parent-dead');
    const stoppedNumbers = stopped.map(({ variables }) => (variables as { n: number }).n);
    deepEqual(
      new Set(stoppedNumbers),
      expected.stopped,
      'a refused one stops exactly its descendants',
    );
  } else {
    // Of a thing that was made and deleted unsent there is no id for a second deletion.
    const others = rows.filter(
      ({ handler, deadReason }, at) =>
        !lost.includes(numbers[at] ?? -1) &&
        !(handler === 'delete' && deadReason === 'answer-missing'),
    );
    deepEqual(others, [], 'no other is a dead letter');
  }
  if (isHealing) await heal();
  for (const one of tabs) one.crash();

  async function heal(): Promise<void> {
    server.isHealed = true;
    for (const row of rows.filter(({ deadReason }) => deadReason === 'refused')) {
      const { isBad: wasBad } = row.variables as { isBad?: boolean };
      if (wasBad) await finish(tabs[0]?.outbox.retry(row.id), turn);
    }
    await quiet(browser, tabs);
    deepEqual(
      sorted(server.things),
      sorted(online(acts, true).things),
      'sent again, they have their descendants after them',
    );
  }
}

/** All that needs no time is done, or enough of it to go on. */
async function turn(): Promise<void> {
  for (let left = 6; left > 0; left -= 1) await new Promise((done) => void setImmediate(done));
}

/** Waits for what needs the database, and no time. */
async function finish(
  work: Promise<unknown> | undefined,
  next: () => Promise<void>,
): Promise<void> {
  const state = { isOver: false };
  const end = (): void => void (state.isOver = true);
  work?.then(end, end);
  for (let turns = 0; work && !state.isOver; turns += 1) {
    ok(turns < 10_000, 'it ends');
    await next();
  }
  await work;
}

/** Lets time pass until only dead letters are left. @returns them. */
async function quiet(browser: TestBrowser, tabs: readonly Tab[]) {
  for (let rounds = 0; ; rounds += 1) {
    for (let turns = 0; turns < 5; turns += 1) await turn();
    const rows = (await browser.rows()).filter(({ state }) => state !== 'done');
    const inPages = await Promise.all(tabs.map(({ outbox }) => outbox.list({ limit: 1000 })));
    const isOver = inPages.flat().every(({ state }) => state === 'dead' || state === 'done');
    if (isOver && rows.every(({ state }) => state === 'dead')) return rows;
    ok(rounds < 300, `all is delivered, or dead: ${JSON.stringify(rows)}`);
    browser.clock.advance(rounds < 100 ? 1000 : 4000);
  }
}
