import { reject } from './input/check.ts';

/** The name of the hidden field that carries the key of a form. */
export const keyField = 'idempotency-key';

interface Keyed {
  /** The key of the next submission of the form: that of the hidden field. */
  readonly key: string;
}

/** The end of a submission. */
interface Ended extends Keyed {
  /** The key that was sent. */
  readonly submission: string;
}

/** An answer of the action. */
interface Answered extends Ended {
  /**
   * The action did not run now: this is its answer to an earlier request of the same submission, such as the first
   * half of a double click, or a page that was gone back to. Say "already done".
   */
  readonly isReplayed: boolean;
}

interface Unanswered {
  /** The text fields that `keepFields` names, as they were sent: the values to show again. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * The state of a form that an action processes. Plain data: it is rendered by a server, and goes through
 * `useActionState` as it is.
 *
 * | status | meaning | key |
 * |---|---|---|
 * | `idle` | nothing was sent | new |
 * | `succeeded` | done, with `data` | a new one |
 * | `refused` | surely not done, with the `data` of `refuse` | a new one |
 * | `needs-confirmation` | nothing was done now, and an earlier submission may have been: another press sends this one | a new one |
 * | `unknown` | it may have been done: another press finds out, and does it once | the same |
 */
export type ActionState<TData = unknown, TRefusal = never> =
  | ({ readonly status: 'idle' } & Keyed)
  | ({ readonly status: 'succeeded'; readonly data: TData } & Answered)
  | ({ readonly status: 'refused'; readonly data: TRefusal } & Answered)
  | ({
      readonly status: 'needs-confirmation';
      /**
       * `edited-after-unknown`: other content was sent with the same key before. `key-expired`: the form is older
       * than keys are kept, so what was sent with its key is no longer known.
       */
      readonly reason: 'edited-after-unknown' | 'key-expired';
    } & Unanswered &
      Ended)
  | ({ readonly status: 'unknown' } & Unanswered & Keyed);

/** The names of what React adds to a form for its server functions. */
const isOfReact = (name: string): boolean => name.startsWith('$ACTION_');

/** Browsers end lines with CR LF in some encodings of a form, and with LF in others. */
const withUnixLines = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/**
 * The content that the user has entered: the same before and after hydration, and in each encoding of a form. Without the key, and
 * without what React adds.
 */
export function contentOf(fields: FormData): FormData {
  const content = new FormData();
  for (const [name, value] of fields) {
    if (name === keyField || isOfReact(name)) continue;
    if (typeof value === 'string') content.append(name, withUnixLines(value));
    else content.append(name, value, value.name);
  }
  return content;
}

/** A key that tells when it was made: a server gives up one that is older than its store remembers. */
export const dateKey = (key: string, nowMs: number): string => `${nowMs.toString(36)}-${key}`;

/** When a key was made, in epoch milliseconds; undefined for one that does not tell. */
export function dateOfKey(key: string): number | undefined {
  const [, date] = /^([\da-z]{8,9})-[\da-f]{8}-/.exec(key) ?? [];
  return date === undefined ? undefined : Number.parseInt(date, 36);
}

/** A redirect that Next.js throws, or one of the web's own: that of TanStack Router has no Location. It is no failure. */
export function isRedirect(thrown: unknown): boolean {
  const { digest, status } = Object(thrown) as {
    readonly digest?: unknown;
    readonly status?: number;
  };
  if (typeof digest === 'string' && digest.startsWith('NEXT_REDIRECT;')) return true;
  const hasLocation = thrown instanceof Response && thrown.headers.has('location');
  return !!status && status >= (hasLocation ? 200 : 300) && status < 400;
}

/**
 * Whether an action threw on purpose: a redirect, the `notFound()` of Next.js, an answer with a status of 4xx. Anything
 * else that a browser catches says nothing of what the server did.
 */
export function isDeliberate(thrown: unknown): boolean {
  const { digest, status } = Object(thrown) as Readonly<Record<string, unknown>>;
  const isOfNext = typeof digest === 'string' && digest.startsWith('NEXT_');
  return isRedirect(thrown) || isOfNext || (Number(status) >= 400 && Number(status) < 500);
}

/** @throws TypeError unless this is the name of a form, which no other form has. */
export function requireForm(operation: string, form: unknown): void {
  if (typeof form !== 'string' || form === '')
    reject(operation, 'form', form, 'a name, which no other form of the site has');
}

/** @throws TypeError unless this is the state of a form: only those have the key of its submission. */
export function requireState(operation: string, option: string, state: unknown): void {
  const { key } = Object(state) as Partial<ActionState>;
  if (typeof key !== 'string' || key === '')
    reject(operation, option, state, 'what createActionState or the action returns');
}
