import type { Clock, SteadyClock } from '../core/lib/clock.ts';
import { startAlarm } from '../core/lib/timer.ts';
import { toUrl } from '../core/lib/input/url.ts';
import type { Emitter, Operation, Pause, TabPorts } from '../core/internal.ts';
import type { Row } from './store/row.ts';

/** Messages between the tabs of one outbox. */
export type Message =
  /**
   * A tab has its first entry, or those of another that has died: the others may have to take over one day,
   * and may have missed that an entry is due.
   */
  | { readonly kind: 'owner' }
  /** The entries have changed. */
  | { readonly kind: 'changed' }
  /** An entry of this owner is due. */
  | {
      readonly kind: 'due';
      readonly owner: string;
      readonly seq: number;
      readonly isUrged: boolean;
    }
  /** A request to this origin went well: what waits for it need not wait any longer. */
  | { readonly kind: 'up'; readonly origin: string }
  /** An entry was delivered. Variables and data are left out where they cannot be posted. */
  | {
      readonly kind: 'done';
      readonly id: string;
      readonly handler: string;
      readonly variables?: unknown;
      readonly data?: unknown;
    }
  /** An entry needs a user, or a tab of a newer version. */
  | { readonly kind: 'ended'; readonly id: string }
  /** A user has discarded an entry. */
  | { readonly kind: 'discarded'; readonly id: string; readonly isInDoubt: boolean }
  /** A user has edited an entry: it has another id, and is a new one. */
  | { readonly kind: 'renamed'; readonly id: string; readonly next: string }
  /** All entries are to be discarded, because the user has logged out: by whichever tab can. */
  | { readonly kind: 'cleared'; readonly token: string }
  /** An attempt at an entry waits before it is sent; or, without `paused`, no more. */
  | {
      readonly kind: 'paused';
      readonly id: string;
      readonly claims: number;
      readonly pause: Pause | undefined;
    }
  /** A tab is here that does not know yet what is paused. */
  | { readonly kind: 'here' };

/** Of the messages: a tab with another version of them is not understood, and does not understand. */
const version = 1;

export function write(message: Message): object {
  return { ...message, version };
}

export type Listeners = {
  readonly [K in Message['kind']]: (message: Extract<Message, { readonly kind: K }>) => void;
};

export class OtherTabs {
  readonly isOpen: boolean;
  readonly #channel: ReturnType<TabPorts['open']>;
  #isOver = false;

  constructor(ports: TabPorts, name: string, listeners: Listeners) {
    this.#channel = ports.open(`steadfetch outbox ${name}`, (posted) => {
      const message = posted as Message & { readonly version: unknown };
      // One of another version of this package is not understood.
      if (this.#isOver || Object(posted).version !== version) return;
      if (message.kind !== 'up') listeners.changed({ kind: 'changed' });
      (listeners[message.kind] as ((message: Message) => void) | undefined)?.(message);
    });
    this.isOpen = !!this.#channel;
  }

  post(message: Message): void {
    if (this.#isOver) return;
    try {
      this.#channel?.post(write(message));
    } catch {
      // Variables or data that cannot be posted are left out.
      if (message.kind !== 'done' || !('data' in message)) return;
      const { id, handler } = message;
      this.post({ kind: 'done', id, handler });
    }
  }

  close(): void {
    this.#isOver = true;
    this.#channel?.close();
  }
}

/** Which attempt it is: an entry that another tab has taken over since is at another. */
type AttemptRef = Pick<Row, 'id' | 'claims'>;

type Said = Extract<Message, { readonly kind: 'paused' }>;

const nameOf = ({ id, claims }: AttemptRef): string => `${claims} ${id}`;

/**
 * The pauses of the attempts of all tabs. On the disk such an entry is being sent: each tab posts its pauses to
 * the others, and to those that open later.
 */
export class Pauses {
  readonly #send: (message: Message) => void;
  readonly #clock: SteadyClock;
  /** With times of the steady clock. */
  readonly #own: Map<string, Said> = new Map();
  readonly #received: Map<string, Said> = new Map();

  constructor(post: (message: Message) => void, clock: SteadyClock) {
    this.#send = post;
    this.#clock = clock;
  }

  /** The reason for which the attempt at an entry waits; undefined when it does not. */
  of(entry: AttemptRef & Pick<Row, 'state'>): Pause | undefined {
    const name = nameOf(entry);
    const own = this.#own.get(name);
    const said = own ? this.#onWall(own) : this.#received.get(name);
    return entry.state === 'sending' ? said?.pause : undefined;
  }

  /** All entries of which `of` may know something. */
  ids(): ReadonlySet<string> {
    return new Set([...this.#own.values(), ...this.#received.values()].map(({ id }) => id));
  }

  /** An attempt of this tab waits, waits for something else, or waits no more. */
  record({ id, claims }: AttemptRef, { pauses }: Operation): void {
    const said = { kind: 'paused', id, claims, pause: pauses.list[0]?.pause } as const;
    if (said.pause === this.#own.get(nameOf(said))?.pause) return;
    keep(said, this.#own);
    this.#send(this.#onWall(said));
  }

  receive(said: Said): void {
    keep(said, this.#received);
  }

  /** Asks the other tabs: this one is new, or has slept and heard nothing. */
  request(): void {
    this.#received.clear();
    this.#send({ kind: 'here' });
  }

  answer(): void {
    for (const said of this.#own.values()) this.#send(this.#onWall(said));
  }

  #onWall(said: Said): Said {
    const { retryAt } = said.pause ?? {};
    if (!said.pause || retryAt === undefined) return said;
    return { ...said, pause: { ...said.pause, retryAt: retryAt - this.#clock.setBackMs() } };
  }
}

function keep(said: Said, all: Map<string, Said>): void {
  if (said.pause) all.set(nameOf(said), said);
  else all.delete(nameOf(said));
}

export type PausedEntries = Pick<Pauses, 'of' | 'ids'>;

/**
 * The pause between two messages about one origin. Together with the at most 4 s that a woken entry waits, it is within
 * the 5 s that are promised.
 */
const gapMs = { here: 600, others: 300 } as const;

/**
 * Watches the requests of this instance: where one has gone well, here or in another tab, `wake` is called for
 * what the outbox has put off for its origin, and `post` for those here. No success is lost: what comes too soon
 * after another is told of a moment later.
 */
export class Successes {
  readonly #clock: Clock;
  readonly #latest: Map<string, number> = new Map();
  readonly #wake: (origin: string) => void;
  readonly #unsubscribe: () => void;
  #isOver = false;

  constructor(
    emitter: Emitter,
    clock: Clock,
    wake: (origin: string) => void,
    post: (origin: string) => void,
  ) {
    this.#clock = clock;
    this.#wake = throttle(clock, gapMs.here, (origin) => this.#isOver || wake(origin));
    const postSoon = throttle(clock, gapMs.others, (origin) => this.#isOver || post(origin));
    this.#unsubscribe = emitter.subscribe((event) => {
      if (event.type !== 'request:end' || event.outcome.kind !== 'ok') return;
      const origin = toUrl(event.url)?.origin;
      if (origin === undefined) return;
      this.receive(origin);
      postSoon(origin);
    });
  }

  /** One has gone well at this origin, in another tab. */
  receive(origin: string): void {
    this.#latest.set(origin, this.#clock.now());
    this.#wake(origin);
  }

  /**
   * A wait was decided at this time, in epoch milliseconds, and is written only now: what went well in
   * between has not ended it. `origin` is undefined where it is not known, and any is meant.
   */
  recheck(origin: string | undefined, decidedAt: number): void {
    for (const [name, at] of this.#latest)
      if ((origin ?? name) === name && at >= decidedAt && at <= this.#clock.now()) this.#wake(name);
  }

  dispose(): void {
    this.#isOver = true;
    this.#unsubscribe();
  }
}

/** Calls `act` for each origin at once, or when the gap since the last call is over. */
function throttle(
  clock: Clock,
  leastMs: number,
  act: (origin: string) => unknown,
): (origin: string) => void {
  /** The origins of the last calls, and whether there was another one since. */
  const called = new Map<string, boolean>();
  return function call(origin) {
    if (called.has(origin)) {
      called.set(origin, true);
      return;
    }
    called.set(origin, false);
    act(origin);
    startAlarm(clock, leastMs, () => {
      const isMore = called.get(origin);
      called.delete(origin);
      if (isMore) call(origin);
    });
  };
}
