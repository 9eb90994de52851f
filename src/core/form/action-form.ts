import { createIdempotencyKey } from '../idempotency/key.ts';
import {
  type ActionState,
  contentOf,
  dateKey,
  isDeliberate,
  isRedirect,
  keyField,
} from '../lib/action-state.ts';
import { actedAt } from '../lib/browser/page.ts';
import { formPrefix } from '../lib/browser/tab-names.ts';
import { systemClock, systemNow, systemRandom } from '../lib/clock.ts';
import { fingerprintOf } from '../lib/fingerprint.ts';
import { createEmitter, type Emitter } from '../lib/store.ts';
import { backoffDelay } from '../policy/backoff.ts';
import { inDevelopment } from '../lib/development.ts';
import { warn } from '../lib/input/warn.ts';
import { createTabStorage } from './tab-storage.ts';

/** For how long a tab remembers a form that its browser has sent without JavaScript, in milliseconds. */
const nativeMs = 60_000;

/**
 * Serves the key of a form before the page has its JavaScript: a key whose outcome is unknown comes back after a
 * reload, and one that the browser sends itself is remembered. `ActionForm` goes on with it.
 */
const source = `(function(name,submission,nativeMs){
try{
var input=document.currentScript.previousElementSibling;
var read=function(){return JSON.parse(sessionStorage.getItem(name)||'{}')};
var write=function(kept){sessionStorage.setItem(name,JSON.stringify(kept))};
var kept=read();
if(submission&&kept.unknown===submission){delete kept.unknown;write(kept)}
else if(kept.unknown&&!(Date.now()-kept.sentAt>nativeMs))input.value=kept.unknown;
input.form.addEventListener('submit',function(){
if('live' in input.dataset)return;
kept=read();kept.unknown=input.value;kept.sentAt=Date.now();write(kept)
})
}catch(e){}
})`;

/** The script that follows the hidden field. `submission`: the key that the state of the page has answered. */
function keyScript(name: string, submission: string | undefined): string {
  const values = [name, submission ?? null, nativeMs].map((value) => JSON.stringify(value));
  // A name must not end the script.
  return `${source}(${values.join(',').replaceAll('<', '\\u003c')})`;
}

type AnyState = ActionState<unknown, unknown>;
type Call = (fields: FormData) => Promise<AnyState>;

/** The record that this tab keeps of a form. */
interface Kept {
  /** The key of a submission that may have been done. */
  readonly unknown?: string | undefined;
  /** When the browser sent it without JavaScript, in epoch milliseconds. */
  readonly sentAt?: number | undefined;
  /** Keys whose outcome is known, with the content that was sent under them. The latest is the last. */
  readonly used: readonly (readonly [key: string, content: string])[];
}

/** More than a tab shows again with its back button. */
const mostUsed = 50;

/** A press with the same content until this time after an answer is the second half of a double click. */
const echoMs = 1000;

/** An older press was of another form, or the clock was set. */
const oldMs = 10_000;

/** A page that the user begins to leave within this time after it shows an answer may not have been read. */
const unreadMs = 300;

/** A page that is still there after this time was not left (a download, or a link to mail), and its answer was read. */
const stayedMs = 5000;

const backoff = { backoff: 'equal', baseMs: 500, factor: 2, capMs: 8000 } as const;

/** One press of Submit, with those that belong to it. */
interface Press {
  readonly content: string;
  /** The calls of the second half of a double click: a framework may end the first call for it. */
  readonly more: Call[];
  readonly promise: Promise<AnyState>;
  /** The content of the form since it was reset after this press. */
  readonly blank?: string;
  /** In epoch milliseconds; -Infinity if the next press is another one, however soon. Undefined while under way. */
  readonly endedAt?: number;
}

/** How `sendAction` sends. */
export interface SendActionOptions {
  /**
   * How often the same is sent again by itself, under the same key, while its outcome is unknown. 0 for a call that
   * can be made once, such as the `serverAction` of React Router. @default 3
   */
  readonly maxRetries?: number | undefined;
}

// No form of `useSafeSubmit` has a name that begins so.
const storedName = (form: string): string => `${formPrefix}\0${form}`;

/** The script that a server renders behind the hidden field. `submission`: the key that its state has answered. */
export const scriptOf = (form: string, submission: string | undefined): string =>
  keyScript(storedName(form), submission);

const forms = new Map<string, ActionForm>();

/** The form of this name in this tab. For browsers only. */
export function openActionForm(name: string): ActionForm {
  let form = forms.get(name);
  if (!form) forms.set(name, (form = new ActionForm(name)));
  return form;
}

/** A form that an action of a server processes. It remembers which key has an unknown outcome, also over a reload. */
export class ActionForm {
  readonly #name: string;
  readonly #storage = createTabStorage();
  readonly #changes: Emitter<void> = createEmitter();
  readonly subscribe: Emitter<void>['on'] = this.#changes.on;
  #latest: Press | undefined;
  /** The key whose outcome the latest press has found. */
  #foundKey: string | undefined;
  /** From when on its answer counts as read. A framework may load the whole page anew before it shows the answer. */
  #readFrom = -Infinity;
  /** When the user began to leave the page, since the latest press. */
  #leftAt: number | undefined;
  /** When the user pressed Submit last; undefined once that press is sent, or where code has sent it. */
  #pressedAt: number | undefined;
  /** Ends the running call without an answer. */
  #giveUp: () => void = () => {};

  /** One of each name lasts as long as its page: it listens for as long. */
  constructor(name: string) {
    this.#name = storedName(name);
    // A framework sends a press when those before it have ended, and a busy page when it can.
    globalThis.addEventListener('submit', this.#pressed, true);
    globalThis.addEventListener('pagehide', this.#pageLeft);
    globalThis.addEventListener('pageshow', this.#pageShown);
  }

  /** Development only: how many of this name the page shows. */
  #shown = 0;
  /** Development only: counts one that the page shows, until the returned function is called. */
  countShown(): () => void {
    this.#shown += 1;
    return () => void (this.#shown -= 1);
  }

  #warnOfTwo(): void {
    if (this.#shown < 2) return;
    const form = this.#name.slice(storedName('').length);
    warn(
      this,
      'two',
      `KeyField, form ${form}: the page has two forms of this name. The same content of the other one is not sent: it ` +
        'gets the answer of the first. Name them `row-${id}`.',
      'idempotency.md#anti-patterns',
    );
  }

  /** When the press was that is sent now. What code sends has none, and is of now. */
  #takePress(): number {
    const nowMs = systemNow();
    const pressedAt = this.#pressedAt ?? nowMs;
    this.#pressedAt = undefined;
    return nowMs - pressedAt < oldMs ? pressedAt : nowMs;
  }

  readonly #pressed = (event: SubmitEvent): void => {
    this.#pressedAt = actedAt(event, systemNow());
  };

  /** The user may leave before an answer is read: then the same content gets the same answer once more. */
  readonly #pageLeft = (): void => {
    this.#leftAt ??= systemNow();
    if (this.#leftAt < this.#readFrom) this.#write({ unknown: this.#foundKey });
  };

  /** Another page of this tab may have sent it, when this one comes back from the back-forward cache. */
  readonly #pageShown = ({ persisted }: PageTransitionEvent): void => {
    // No answer comes to a page that was put away.
    if (persisted) this.#giveUp();
    this.#leftAt = undefined;
    this.#changes.emit();
  };

  /** The key to send under, in a form that was rendered with this one. */
  keyFor(rendered: string): string {
    return this.#read().unknown ?? rendered;
  }

  /** The key of an earlier submission that may have been done; undefined while one is under way. */
  unknownKey(): string | undefined {
    return this.#isUnderWay() ? undefined : this.#read().unknown;
  }

  /** The page shows the answer to this key. */
  recordAnswer(key: string): void {
    if (key === this.#foundKey) this.recordShown();
    if (this.#read().unknown !== key) return;
    this.#write({ unknown: undefined });
    this.#changes.emit();
  }

  /** The page shows the answer to the latest press, or something else in place of the form. */
  readonly recordShown = (): void => {
    const readFrom = systemNow() + unreadMs;
    if (readFrom >= this.#readFrom) return;
    this.#readFrom = readFrom;
    systemClock.setTimeout(this.#stopWatching, unreadMs);
  };

  /** The form was reset to these fields after the latest press: with them, the second half of a double click sends nothing. */
  async recordReset(fields: FormData): Promise<void> {
    const latest = this.#latest;
    const blank = await fingerprintOf(contentOf(fields));
    if (latest && this.#latest === latest) this.#latest = { ...latest, blank };
  }

  /**
   * Sends the fields, once for a double click, and again by itself while their outcome is unknown.
   *
   * @throws what the call has thrown on purpose: a redirect, or another answer.
   */
  async send<TState extends AnyState>(
    fields: FormData,
    call: (fields: FormData) => Promise<TState>,
    { maxRetries = 3 }: SendActionOptions = {},
    onPutAway?: () => void,
  ): Promise<TState> {
    inDevelopment(() => this.#warnOfTwo());
    this.#leftAt = undefined;
    const pressedAt = this.#takePress();
    // Only while it is sent: it keeps a page out of the back-forward cache.
    globalThis.addEventListener('beforeunload', this.#pageLeft);
    const content = await fingerprintOf(contentOf(fields));
    const before = this.#latest;
    const isSame = before && (before.content === content || before.blank === content);
    // A form has one action, so its answer has the type of this one.
    if (isSame && isRecent(before, pressedAt)) {
      before.more.push(call);
      this.#stopWatching();
      return before.promise as Promise<TState>;
    }
    const more: Call[] = [];
    const deliver = async (): Promise<AnyState> => {
      // One after the other: other content is another submission.
      await before?.promise.catch(() => {});
      return this.#deliver(fields, content, [call, more], maxRetries, onPutAway);
    };
    const press: Press = { content, more, promise: deliver() };
    this.#latest = press;
    const end = (state?: AnyState): void => {
      // A press after an unknown outcome sends it again, however soon.
      const endedAt = state?.status === 'unknown' ? -Infinity : systemNow();
      if (this.#latest === press) this.#latest = { ...press, endedAt };
      this.#stopWatching();
      this.#changes.emit();
    };
    press.promise.then(end, () => end());
    return press.promise as Promise<TState>;
  }

  async #deliver(
    fields: FormData,
    content: string,
    [first, more]: readonly [Call, Call[]],
    maxRetries: number,
    onPutAway: (() => void) | undefined,
  ): Promise<AnyState> {
    const rendered = fields.get(keyField);
    if (typeof rendered !== 'string')
      throw new TypeError(`A form of an action has no key: render <KeyField> in it.`);
    let key = this.#freshen(this.keyFor(rendered), content);
    const { unknown, used } = this.#read();
    const isUsed = used.some(([other]) => other === key);
    // A request with the key may have been done.
    let isInDoubt = unknown === key;
    const sent = contentOf(fields);
    let call = first;
    for (let retry = 1; ; retry++) {
      sent.set(keyField, key);
      this.#foundKey = undefined;
      this.#readFrom = -Infinity;
      this.#write({ unknown: key, sentAt: undefined });
      const state = await this.#attempt(key, content, () => call(sent), isInDoubt, onPutAway);
      // Where nothing was sent with a key, there is nothing to ask about one that is too old.
      const isNew = !isInDoubt && !isUsed && retry <= maxRetries;
      const renewed = isNew ? renewedKey(state) : undefined;
      if (renewed !== undefined) {
        key = renewed;
        continue;
      }
      if (state && state.status !== 'unknown') return state;
      isInDoubt = true;
      const pressed = more.pop();
      if (pressed) {
        call = pressed;
        continue;
      }
      if (retry > maxRetries) return state ?? { status: 'unknown', key, fields: {} };
      const delayMs = backoffDelay({ ...backoff, retry }, systemRandom);
      await new Promise<void>((resolve) => systemClock.setTimeout(resolve, delayMs));
    }
  }

  /**
   * A page that the user went back to has a key whose outcome is known. The same content gets that outcome; other
   * content is another submission.
   */
  #freshen(key: string, content: string): string {
    const sent = this.#read()
      .used.filter(([used]) => used === key)
      .pop();
    return !sent || sent[1] === content ? key : dateKey(createIdempotencyKey(), systemNow());
  }

  /** @returns undefined if its answer is lost. */
  async #attempt(
    key: string,
    content: string,
    call: () => Promise<AnyState>,
    wasInDoubt: boolean,
    onPutAway: (() => void) | undefined,
  ): Promise<AnyState | undefined> {
    const givenUp = new Promise<undefined>((resolve) => {
      this.#giveUp = () => {
        onPutAway?.();
        resolve(undefined);
      };
    });
    try {
      const state = await Promise.race([call(), givenUp]);
      if (state && state.status !== 'unknown') this.#recordFound(key, content);
      return state;
    } catch (thrown) {
      if (!isDeliberate(thrown)) return undefined;
      if (isRedirect(thrown)) this.#recordFound(key, content);
      // A refusal, as of an expired session, does not tell what became of an earlier request.
      else if (!wasInDoubt) this.#write({ unknown: undefined });
      throw thrown;
    } finally {
      this.#giveUp = () => {};
    }
  }

  /** Records at once that an outcome is known: the next page may be there before this one learns that it is left. */
  #recordFound(key: string, content: string): void {
    const used = [...this.#read().used, [key, content] as const].slice(-mostUsed);
    this.#write({ unknown: this.#leftAt === undefined ? undefined : key, used });
    this.#foundKey = key;
    this.#readFrom = systemNow() + stayedMs;
    systemClock.setTimeout(() => {
      // A later press under the same key may have an outcome that is not known.
      if (this.#foundKey === key) this.recordAnswer(key);
      this.#stopWatching();
    }, stayedMs);
  }

  #isUnderWay(): boolean {
    return this.#latest !== undefined && this.#latest.endedAt === undefined;
  }

  readonly #stopWatching = (): void => {
    if (!this.#isUnderWay() && systemNow() >= this.#readFrom)
      globalThis.removeEventListener('beforeunload', this.#pageLeft);
  };

  #read(): Kept {
    return parse(this.#storage.read(this.#name));
  }

  #write(change: Partial<Kept>): void {
    this.#storage.write(this.#name, JSON.stringify({ ...this.#read(), ...change }));
  }
}

/** The new key where a form was left open for so long that the server gives up its key. */
const renewedKey = (state: AnyState | undefined): string | undefined =>
  state?.status === 'needs-confirmation' && state.reason === 'key-expired' ? state.key : undefined;

/** Whether a press was under way, or had just ended, at this time. */
function isRecent({ endedAt }: Press, atMs: number): boolean {
  if (endedAt === undefined) return true;
  const sinceMs = atMs - endedAt;
  return sinceMs > -oldMs && sinceMs < echoMs;
}

/** Other code of the page may have written to the storage. */
function parse(text: string | null): Kept {
  try {
    const kept = JSON.parse(text ?? '{}') as Readonly<Record<string, unknown>>;
    const { unknown, used } = kept;
    const sentAt = kept['sentAt'] as number;
    // False where there is none.
    const isOld = systemNow() - sentAt > nativeMs;
    return {
      unknown: typeof unknown === 'string' && !isOld ? unknown : undefined,
      sentAt,
      used: [used].flat().filter(Array.isArray) as readonly unknown[] as Kept['used'],
    };
  } catch {
    return parse(null);
  }
}
