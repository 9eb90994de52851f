import {
  type ActionState,
  contentOf,
  dateKey,
  dateOfKey,
  isRedirect,
  keyField,
} from '../core/lib/action-state.ts';
import { systemClock, systemNow } from '../core/lib/clock.ts';
import { canonicalise } from '../core/lib/fingerprint.ts';
import {
  type ActionSettings,
  checkActionOptions,
  type IdempotentActionOptions,
} from './action-options.ts';
import { type ActionAnswer, decodeAnswer, encodeAnswer, encodeRedirect } from './action-answer.ts';
import { requireHandler } from './options.ts';
import { digestOf, requireOwner, toStorable } from './request.ts';
import { runOnce } from './run-once.ts';
import type { Claim, StoredAnswer } from './stores/store.ts';

/** The second argument of the function of an action. The first has the fields, without the key. */
export interface ActionContext<Tx> {
  /** The key. Pass it on to services behind this server that accept keys. */
  readonly key: string;
  /** The transaction. Writes with it are committed together with the answer, or not at all. */
  readonly tx: Tx;
  /** Aborted when `leaseMs` is over: the work then has no effect. Pass it on to `fetch`. */
  readonly signal: AbortSignal;
}

/** A refusal, made by {@link refuse}. */
export class Refusal<TData> {
  /** Becomes `data` of the state of the form. */
  readonly data: TData;
  constructor(data: TData) {
    this.data = data;
  }
}

/**
 * Refuses a form: an action returns it, and `data` becomes that of a state with the status `refused`. The refusal is
 * stored under the key, and the next press gets a new key. Refuse before the first write: what was written stays.
 *
 * @example
 * ```ts
 * import { idempotentAction, memoryStore, refuse } from 'steadfetch/server';
 *
 * export const subscribe = idempotentAction(
 *   (fields) => (fields.get('email') ? { isDone: true } : refuse({ email: 'Enter your address.' })),
 *   { store: memoryStore() },
 * );
 * ```
 */
export function refuse<TData>(data: TData): Refusal<TData> {
  return new Refusal(data);
}

/** The state of the forms of an action that returns this. */
export type ActionStateOf<TReturned> = ActionState<
  Exclude<TReturned, Refusal<unknown> | Response>,
  TReturned extends Refusal<infer TData> ? TData : never
>;

/**
 * The first state of a form, with its key. Call it for each form that a server renders, once for each request: two
 * users with one key would be one submission. So the page must not be prerendered or cached.
 *
 * @throws Error while Next.js prerenders a page.
 *
 * @example
 * ```ts
 * import { createActionState } from 'steadfetch/server';
 *
 * createActionState(); // { status: 'idle', key: 'mbzl3k80-8e03978e-40d5-43dd-bc93-6894a57f9324' }
 * ```
 */
export function createActionState(): ActionState<never> {
  if (
    typeof process === 'object' &&
    (process.env as Record<string, unknown>)['NEXT_PHASE'] === 'phase-production-build'
  )
    throw new Error(
      `createActionState: this page is prerendered, so all its users would have one key. Render it for each ` +
        `request: \`await connection()\`, or \`export const dynamic = 'force-dynamic'\`.`,
    );
  return { status: 'idle', key: createKey(systemNow()) };
}

const createKey = (nowMs: number): string => dateKey(crypto.randomUUID(), nowMs);

/**
 * Makes an action of a form take effect once for each submission, however often it is sent: by a double click before
 * the page has its JavaScript, a reload of the answer ("resend the form?"), a page that was gone back to, a browser or
 * framework that sends a request again. It is for the `useActionState` of React, and for any server that has the fields
 * as a FormData.
 *
 * The form has its key in a hidden field (`KeyField`), from {@link createActionState}. A second request of the same
 * submission waits for the first, and gets its answer. What the function returns must be JSON. Everything that it
 * returns is final, and kept. A redirect is a success, whether of Next.js or a Response: it is kept, and thrown
 * again. If the function throws anything else, what it wrote with `tx` is rolled back, the error is passed on, and the
 * key is free.
 *
 * @returns The action: it takes the previous state and the fields.
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * 'use server';
 * import { DatabaseSync } from 'node:sqlite';
 * import { idempotentAction, refuse, sqliteStore } from 'steadfetch/server';
 *
 * // Yours: verifies the session, and gives the id of its user.
 * declare function currentUserId(): Promise<string>;
 *
 * const db = new DatabaseSync('shop.db', { timeout: 5000 });
 *
 * export const placeOrder = idempotentAction(
 *   (fields, { tx }) => {
 *     const article = fields.get('article');
 *     if (typeof article !== 'string' || !article) return refuse({ article: 'Choose an article.' });
 *     const insert = tx.prepare('INSERT INTO orders (article) VALUES (?)');
 *     return { id: Number(insert.run(article).lastInsertRowid) };
 *   },
 *   { store: sqliteStore(db), scope: currentUserId, name: 'place-order' },
 * );
 * ```
 */
export function idempotentAction<TReturned, Tx>(
  fn: (fields: FormData, context: ActionContext<Tx>) => TReturned | Promise<TReturned>,
  options: IdempotentActionOptions<Tx>,
): (previous: unknown, fields: FormData) => Promise<ActionStateOf<TReturned>> {
  requireHandler('idempotentAction', fn);
  const settings = checkActionOptions(options);
  const name = settings.name ?? String(fn);
  return async (_previous, fields) => {
    const key = readKey(fields);
    const kept = keptFields(fields, settings.keepFields);
    const ended = { key: createKey(settings.now()), submission: key };
    const bornAt = dateOfKey(key) ?? Infinity;
    if (settings.now() - bornAt > settings.lifetimeMs)
      return { status: 'needs-confirmation', reason: 'key-expired', ...ended, fields: kept };

    let own: ActionRun | undefined;
    const createClaim = await prepareClaim(key, name, fields, settings);
    const result = await waitForOther(settings.waitMs, () =>
      runOnce(settings, createClaim(), async (tx, signal) => {
        own = await runAction(() => fn(contentOf(fields), { key, tx, signal }));
        return own.answer;
      }),
    );
    const ran = result === 'ran' ? own : undefined;
    // The first redirect may have cookies, which are not stored.
    if (ran?.redirect) throw ran.redirect as Error;
    const answer = ran?.answer ?? result;
    if (typeof answer === 'object') {
      const state = toState(decodeAnswer(answer), { isReplayed: !ran, ...ended });
      return state as ActionStateOf<TReturned>;
    }
    return answer === 'payload-mismatch'
      ? { status: 'needs-confirmation', reason: 'edited-after-unknown', ...ended, fields: kept }
      : { status: 'unknown', key, fields: kept };
  };
}

function readKey(fields: FormData): string {
  if (typeof (fields as FormData | undefined)?.get !== 'function')
    throw new TypeError(
      'idempotentAction: its second argument is no FormData. Use it with useActionState, or call it with the previous state and the fields.',
    );
  const key = fields.get(keyField);
  if (typeof key === 'string' && key !== '' && key.length <= 255) return key;
  throw new TypeError(
    `idempotentAction: the form has no key. Render <KeyField> in it: a hidden field named ${keyField}.`,
  );
}

function keptFields(fields: FormData, names: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of names) {
    const value = fields.get(name);
    if (typeof value === 'string') kept[name] = value;
  }
  return kept;
}

async function prepareClaim<Tx>(
  key: string,
  name: string,
  fields: FormData,
  { scope, now, leaseMs, lifetimeMs }: ActionSettings<Tx>,
): Promise<() => Claim> {
  const owner = scope ? requireOwner('idempotentAction', await scope(contentOf(fields))) : '';
  const { text, bytes } = canonicalise(contentOf(fields));
  // The text has the length of each part, so that no two lists run together.
  const parts = new Blob([JSON.stringify([name, text]), ...(bytes as BlobPart[])]);
  const fingerprint = await digestOf(new Uint8Array(await parts.arrayBuffer()));
  const id = await toStorable(JSON.stringify(['action', owner, key]));
  return () => ({ id, fingerprint, token: crypto.randomUUID(), nowMs: now(), leaseMs, lifetimeMs });
}

/** Waits while another request of the key runs: its answer is the one to show. */
async function waitForOther<T>(waitMs: number, attempt: () => Promise<T>): Promise<T> {
  let waitedMs = 0;
  for (let delayMs = 50; ; delayMs = Math.min(2 * delayMs, 1000)) {
    const result = await attempt();
    if (result !== 'in-progress' || waitedMs >= waitMs) return result;
    const untilMs = Math.min(delayMs, waitMs - waitedMs);
    await new Promise<void>((resolve) => systemClock.setTimeout(resolve, untilMs));
    waitedMs += untilMs;
  }
}

interface ActionRun {
  readonly answer: StoredAnswer;
  readonly redirect?: unknown;
}

/** @throws what the function has thrown, unless it is a redirect. */
async function runAction(run: () => unknown): Promise<ActionRun> {
  let redirect: unknown;
  try {
    const returned = await run();
    if (returned instanceof Refusal) return { answer: encodeAnswer('refused', returned.data) };
    if (!(returned instanceof Response) || !isRedirect(returned))
      return { answer: encodeAnswer('succeeded', returned) };
    redirect = returned;
  } catch (thrown) {
    if (!isRedirect(thrown)) throw thrown;
    redirect = thrown;
  }
  return { answer: encodeRedirect(redirect), redirect };
}

/** @throws the redirect, where the answer is one. */
function toState(
  answer: ActionAnswer,
  ended: { readonly isReplayed: boolean; readonly key: string; readonly submission: string },
): ActionState<unknown, unknown> {
  if (answer.status === 'redirected') throw answer.redirect;
  if (answer.status === 'partly-done')
    throw new Error(
      'idempotentAction: a part of it was done, and a part of it has failed. It is not run again.',
    );
  return { status: answer.status, data: answer.data, ...ended };
}
