import type { Intent, PastStep } from '../fetch/intent.ts';
import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { TabStorage } from './tab-storage.ts';

/** What is known of the intent of a form, also after a reload. There is none after a success. */
export interface FormIntent extends Pick<Intent, 'key' | 'createdAt'> {
  /** Of its payload. */
  readonly fingerprint: string;
  /** `failed`: surely not done. `unknown` from before it is sent until more is known. */
  readonly outcome: 'failed' | 'unknown';
  /** Its API no longer knows its key. */
  readonly isExpired?: boolean | undefined;
  /** It went without a key: its API honours none. */
  readonly isUnkeyed?: boolean | undefined;
  /** Its requests, without their bytes. */
  readonly steps?: readonly PastStep[] | undefined;
  /** The payload, where the form is to keep it. */
  readonly payload?: unknown;
}

/** The intent of one form. What this tab has stored counts: another page of it may have gone on. */
export interface FormIntents {
  readonly secret: () => string;
  readonly read: () => FormIntent | undefined;
  readonly write: (intent: FormIntent) => void;
  /** Changes the intent with this key, if it is still there. */
  readonly update: (key: string, change: Partial<FormIntent>) => void;
  /** Forgets the intent with this key, if it is still there. */
  readonly remove: (key: string) => void;
}

export function createFormIntents(storage: TabStorage, form: string): FormIntents {
  const name = `steadfetch.form.${form}`;
  const read = (): FormIntent | undefined => parse(storage.read(name));
  const put = (intent: FormIntent): void => storage.write(name, JSON.stringify(intent));
  return {
    read,
    write(intent) {
      // Where there is no room for this one, the one before must not come back.
      storage.remove(name);
      put(intent);
    },
    secret() {
      let secret = storage.read('steadfetch.secret');
      if (!secret) {
        secret = createIdempotencyKey() + createIdempotencyKey();
        storage.write('steadfetch.secret', secret);
      }
      return secret;
    },
    update(key, change) {
      const known = read();
      if (known?.key === key) put({ ...known, ...change });
    },
    remove(key) {
      if (read()?.key === key) storage.remove(name);
    },
  };
}

/** What is in the storage may be anybody's. */
function parse(text: string | null): FormIntent | undefined {
  try {
    const intent = JSON.parse(text ?? '') as FormIntent;
    const { key, createdAt, fingerprint, outcome, steps = [] } = intent;
    const isWhole =
      !!key &&
      typeof key === 'string' &&
      Number.isFinite(createdAt) &&
      typeof fingerprint === 'string' &&
      ['failed', 'unknown'].includes(outcome) &&
      steps.every(({ id, target, key: own }) => [id, target, own].every(isText));
    return isWhole ? intent : undefined;
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** Why the person must be asked before anything is sent. */
export type ConfirmationReason = 'edited-after-unknown' | 'key-expired' | 'no-key';

/** What a press of Submit comes to. */
export type SubmissionPlan =
  | { readonly kind: 'send'; readonly intent: FormIntent; readonly wasSent: boolean }
  | { readonly kind: 'ask'; readonly reason: ConfirmationReason; readonly key: string };

/** What is pressed, when, and for which unknown intent the person has said that it may be sent. */
export interface Press {
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly confirmedKey?: string | undefined;
}

/**
 * One intent, one key: the same payload goes again under the same key until it is done. Another
 * payload is another intent; but the key of what may have been done is given up by the person alone.
 */
export function planSubmission(
  known: FormIntent | undefined,
  { fingerprint, nowMs, confirmedKey }: Press,
): SubmissionPlan {
  const fresh = (): SubmissionPlan => ({
    kind: 'send',
    intent: { key: createIdempotencyKey(), createdAt: nowMs, fingerprint, outcome: 'unknown' },
    wasSent: false,
  });
  if (!known) return fresh();
  const { key, outcome, isExpired, isUnkeyed } = known;
  const isSame = known.fingerprint === fingerprint;
  if (outcome === 'failed') {
    // Nothing was done under this key: its life begins again.
    const intent: FormIntent = { ...known, createdAt: nowMs, outcome: 'unknown' };
    return isSame ? { kind: 'send', intent, wasSent: false } : fresh();
  }
  if (isSame && !isExpired && !isUnkeyed) return { kind: 'send', intent: known, wasSent: true };
  if (confirmedKey === key) return fresh();
  return {
    kind: 'ask',
    reason: !isSame ? 'edited-after-unknown' : isUnkeyed ? 'no-key' : 'key-expired',
    key,
  };
}
