import { notifyManager, type QueryClient } from '@tanstack/react-query';
import { isNotSentError } from '../fetch/errors.ts';
import { askBeforeLeaving } from '../intent/ask-before-leaving.ts';
import { fingerprint } from '../intent/fingerprint.ts';
import { createFormIntents, type FormIntent, planSubmission } from '../intent/form-intent.ts';
import { trackIntent } from '../intent/track-intent.ts';
import { toKept } from '../intent/kept-payload.ts';
import { createTabStorage } from '../intent/tab-storage.ts';
import { createEcho, type EndStatus } from './echo.ts';
import { createFormObserver } from './form-observer.ts';
import { definitionBehind } from './mutation-definition.ts';
import { statusStoreOf } from './status-store.ts';
import { failed, pending } from './shown-state.ts';
import type {
  Confirmation,
  FormOptions,
  SafeSubmitResult,
  SubmitResult,
  UnknownSubmission,
} from './submission.ts';

/** A form of one QueryClient: all its mounted copies show this one. */
export interface SafeForm<TData, TError, TVariables, TOnMutateResult> {
  readonly setOptions: (options: FormOptions<TData, TError, TVariables, TOnMutateResult>) => void;
  readonly subscribe: (listener: () => void) => () => void;
  readonly getState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  /** What can be known before the page has come to life: nothing of the tab. */
  readonly getServerState: () => SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  /** Nobody shows it, and nothing is under way. */
  readonly isIdle: () => boolean;
  /** Shows nothing of what has been, except what may have been done. */
  readonly clear: () => void;
}

/** @throws Error when the client carries no default options of Steadfetch. */
export function createSafeForm<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  form: string,
): SafeForm<TData, TError, TVariables, TOnMutateResult> {
  type State = SafeSubmitResult<TData, TError, TVariables, TOnMutateResult>;
  type Result = SubmitResult<TData, TError, TVariables>;
  type Ended = Extract<Result, { readonly status: EndStatus }>;
  interface Pressed {
    readonly variables: TVariables;
    readonly fingerprint: string;
    readonly payload: unknown;
  }

  const statuses = statusStoreOf(client, 'useSafeSubmit');
  const { clock } = statuses.instance;
  const intents = createFormIntents(createTabStorage(), form);
  const listeners = new Set<() => void>();
  const target = { mutation: `form ${form}` };
  const noTarget = { mutation: '' };

  let options: FormOptions<TData, TError, TVariables, TOnMutateResult> | undefined;
  let state: State | undefined;
  const changed = (): void => {
    state = undefined;
    // With React Query's own notifications, so that both are rendered together.
    for (const listener of listeners) notifyManager.schedule(listener);
  };
  const observer = createFormObserver<TData, TError, TVariables, TOnMutateResult>(
    client,
    target.mutation,
    changed,
  );

  /** Presses whose payload is being read. */
  const reading = new Set<{ readonly variables: TVariables }>();
  let current: { readonly fingerprint: string; readonly promise: Promise<Ended> } | undefined;
  const echo = createEcho<Ended>(clock);
  /** What this page has sent last, and what it ended in. */
  let sent: { readonly key: string; readonly variables: TVariables; error?: TError } | undefined;
  let confirmation: Confirmation<TData, TError, TVariables> | undefined;
  let confirmed: { readonly id: string; readonly promise: Promise<Ended> } | undefined;
  /** A press whose payload could not be read, which is the latest. */
  let unread: { readonly variables: TVariables; readonly error: TError } | undefined;
  let isResolving = false;

  const press = async (variables: TVariables, confirmedKey?: string): Promise<Result> => {
    const one = { variables };
    reading.add(one);
    unread = undefined;
    changed();
    const stay = askBeforeLeaving();
    try {
      const print = await fingerprint(intents.secret(), variables);
      // Asked only now: an effect may press before the effect that gives the options.
      const payload = options?.keepPayload ? toKept(variables) : undefined;
      // Begun before it counts as read, and not waited for.
      const promise = begin({ variables, payload, fingerprint: print }, confirmedKey);
      return promise;
    } catch (error) {
      // A payload without content is a mistake of the app; a file that is gone is nobody's.
      if (error instanceof TypeError) throw error;
      unread = { variables, error: error as TError };
      return { status: 'failed', error: unread.error };
    } finally {
      stay();
      reading.delete(one);
      changed();
    }
  };

  const begin = (pressed: Pressed, confirmedKey: string | undefined): Promise<Result> => {
    const { fingerprint: print } = pressed;
    if (current)
      return current.fingerprint === print ? current.promise : Promise.resolve({ status: 'busy' });
    // What was confirmed once is sent once, whoever still holds the question.
    if (confirmedKey !== undefined && confirmed?.id === confirmedKey + print)
      return confirmed.promise;
    const ended = confirmedKey === undefined ? echo.find(print) : undefined;
    if (ended) return Promise.resolve(ended);
    const nowMs = clock.now();
    const plan = planSubmission(intents.read(), { fingerprint: print, nowMs, confirmedKey });
    confirmation = undefined;
    if (plan.kind === 'ask') {
      const { reason, key } = plan;
      confirmation = {
        reason,
        variables: pressed.variables,
        confirm: () => press(pressed.variables, key),
        cancel() {
          confirmation = undefined;
          changed();
        },
      };
      return Promise.resolve({ status: 'needs-confirmation', ...confirmation });
    }
    const promise = send(pressed, { ...plan.intent, payload: pressed.payload }, plan.wasSent);
    current = { fingerprint: print, promise };
    if (confirmedKey !== undefined && plan.intent.key !== confirmedKey)
      confirmed = { id: confirmedKey + print, promise };
    return promise;
  };

  const send = async (
    { variables, fingerprint: known }: Pressed,
    formIntent: FormIntent,
    wasSent: boolean,
  ): Promise<Ended> => {
    const { key } = formIntent;
    // Before anything goes out: whatever becomes of this page, the next one knows the key.
    intents.write(formIntent);
    sent = { key, variables };
    const stay = askBeforeLeaving();
    const intent = trackIntent(intents, formIntent, wasSent);
    let result: Ended;
    try {
      const data = await observer.send(variables, intent);
      intents.remove(key);
      result = { status: 'succeeded', data };
    } catch (thrown) {
      const error = thrown as TError;
      sent.error = error;
      const { status } = statuses.getState(statuses.idOf(target));
      // Of what is not surely undone, nothing is forgotten.
      const outcome = !wasSent && status === 'failed' ? 'failed' : 'unknown';
      const isExpired = isNotSentError(error) && error.outcome.kind === 'expired';
      // Sent with other bytes than before, and nothing was done: that is another intent.
      if (outcome === 'failed' && intent.isChanged) intents.remove(key);
      else intents.update(key, { outcome, isExpired });
      result = { status: outcome, error };
    }
    stay();
    return end(known, result);
  };

  const end = (known: string, result: Ended): Ended => {
    echo.note(known, result);
    current = undefined;
    changed();
    return result;
  };

  const variablesOf = ({ key, payload }: FormIntent): TVariables | undefined =>
    sent?.key === key ? sent.variables : (payload as TVariables | undefined);

  const resolve = async (): Promise<'done' | 'not-done' | 'unknown'> => {
    const known = intents.read();
    const { resolve: ask, mutation } = options ?? {};
    const definition = definitionBehind(client.defaultMutationOptions(mutation).mutationFn);
    if (!ask || !definition || current || isResolving || known?.outcome !== 'unknown')
      return 'unknown';
    const { key, fingerprint: print } = known;
    const { fetch, json } = definition;
    const variables = variablesOf(known);
    isResolving = true;
    changed();
    // Nobody knows better when it fails.
    const said = await (async () => ask({ idempotencyKey: key, variables, fetch, json }))().catch(
      () => 'unknown' as const,
    );
    const isAnswer = said === 'not-done' || (Object(said) === said && 'done' in (said as object));
    const answer = isAnswer ? said : 'unknown';
    isResolving = false;
    // In the meantime it may have been sent again, which ends in the same.
    const isOpen = !current && intents.read()?.key === key;
    if (isOpen && answer === 'not-done') {
      intents.update(key, { outcome: 'failed' });
      echo.clear();
    }
    if (isOpen && typeof answer === 'object') {
      const data = answer.done;
      intents.remove(key);
      confirmation = undefined;
      const finish = async (): Promise<Ended> => {
        await observer.finish(data, variables);
        return end(print, { status: 'succeeded', data });
      };
      const promise = finish();
      current = { fingerprint: print, promise };
      await promise;
    }
    changed();
    return typeof answer === 'object' ? 'done' : answer;
  };

  const showUnknown = (): UnknownSubmission<TVariables> | undefined => {
    const known = intents.read();
    if (current || known?.outcome !== 'unknown') return undefined;
    const { key, createdAt, isExpired = false } = known;
    const error = sent?.key === key ? sent.error : undefined;
    return {
      idempotencyKey: key,
      since: createdAt,
      variables: variablesOf(known),
      error,
      isExpired,
      isResolving,
      resolve,
    };
  };

  const submit = (variables: TVariables): Promise<Result> => press(variables);
  const clear = (): void => {
    confirmation = undefined;
    unread = undefined;
    observer.reset();
    changed();
  };
  const reset: State['reset'] = ({ forgetUnknown = false } = {}) => {
    if (current || reading.size > 0) return;
    const known = intents.read();
    if (known && (known.outcome === 'failed' || forgetUnknown)) intents.remove(known.key);
    echo.clear();
    clear();
  };

  const show = (unknown: UnknownSubmission<TVariables> | undefined): State => {
    const { mutate: _, reset: __, ...result } = observer.getResult();
    const [one] = reading;
    // As it will be in a moment, once the payload is read.
    const early = one && !result.isPending && { ...result, ...pending, ...one };
    const late = unread && !result.isPending && { ...result, ...failed, ...unread };
    const shown = { ...(early || late || result), submit, reset, unknown, confirmation };
    return { ...shown, target: result.isIdle ? noTarget : target };
  };
  const serverState = show(undefined);

  return {
    setOptions(next) {
      options = next;
      observer.setOptions(next.mutation);
    },
    subscribe(listener) {
      // What another page of this tab has done shows when this one comes back as it was.
      if (listeners.size === 0) globalThis.addEventListener?.('pageshow', changed);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) globalThis.removeEventListener?.('pageshow', changed);
      };
    },
    getState: () => (state ??= show(showUnknown())),
    getServerState: () => serverState,
    isIdle: () => listeners.size === 0 && !current && reading.size === 0,
    clear,
  };
}
