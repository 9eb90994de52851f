import {
  type Mutation,
  type MutationObserverResult,
  type QueryClient,
  type UseMutationOptions,
  focusManager,
  MutationObserver,
} from '@tanstack/react-query';
import { type Submissions, type FormSubmission, trackSubmission } from './submission.ts';
import { type MutationTarget, mutationStatus } from '../react-query/status/mutation.ts';
import type { StatusStore } from '../react-query/status/store.ts';
import type { FormOptions, SubmitResult } from './safe-submit.ts';
import { reportOf } from '../operation/error-info.ts';
import { type Submission, renewRefused } from '../operation/parts/submission.ts';
import { askBeforeLeaving } from '../lib/browser/page.ts';
import { warn } from '../lib/input/warn.ts';
import { createIdempotencyKey } from '../idempotency/key.ts';
import { cancelMutation } from '../react-query/controls.ts';
import { definitionBehind, extendMutation } from '../react-query/mutation/definition.ts';
import { mayHaveBegun, throwIfRefused } from '../react-query/mutation/execution.ts';
import type { Instance } from '../react-query/instance.ts';

/** What the parts of one form stand on. */
export interface FormContext<TData, TError, TVariables, TOnMutateResult> {
  readonly instance: Instance;
  readonly statuses: StatusStore<Mutation>;
  readonly submissions: Submissions;
  readonly observer: FormObserver<TData, TError, TVariables, TOnMutateResult>;
  /** Its newest submission. */
  readonly target: MutationTarget;
  /** What it is made with at present. */
  readonly options: () => FormOptions<TData, TError, TVariables, TOnMutateResult> | undefined;
  /** Something of it is to be shown. */
  readonly changed: () => void;
}

/** How a submission has ended. */
export type Ended<TData, TError> = Extract<
  SubmitResult<TData, TError, never>,
  { readonly status: 'succeeded' | 'failed' | 'unknown' }
>;

/** What a page has sent, and what it ended in. */
export interface Sent<TVariables, TError> {
  readonly key: string;
  readonly variables: TVariables;
  error?: TError;
  /** It cannot go again as it is made now: its requests are others. */
  isChanged?: boolean;
}

/** The way out of a form. */
export interface FormSend<TData, TError, TVariables> {
  /** Sends a submission, and keeps it while its outcome is unknown. `wasSent`: it may have been done before. */
  readonly send: (
    variables: TVariables,
    submission: FormSubmission,
    wasSent: boolean,
  ) => Promise<Ended<TData, TError>>;
  /** What this page has sent last. */
  readonly sent: () => Sent<TVariables, TError> | undefined;
}

/** Makes the way out of a form. */
export function createFormSend<TData, TError, TVariables, TOnMutateResult>({
  submissions,
  observer,
  target,
  statuses,
}: FormContext<TData, TError, TVariables, TOnMutateResult>): FormSend<TData, TError, TVariables> {
  let sent: Sent<TVariables, TError> | undefined;
  return {
    sent: () => sent,
    async send(variables, record, wasSent) {
      const { key, before } = record;
      const sentBefore = sent;
      const isKept = observer.isKept();
      // Before anything goes out: whatever becomes of this page, the next one knows the key. An outbox
      // that keeps it sees to the keys by itself.
      const sentBy = createIdempotencyKey();
      submissions.write({ ...record, sentBy, ...(isKept && { isRepeatable: true }) });
      sent = { key, variables };
      // An outbox asks by itself, until it is on the disk.
      const stay = isKept ? undefined : askBeforeLeaving();
      // What was definitely refused goes under another key, or it would be refused for ever.
      const steps = record.steps && renewRefused(record.steps);
      const submission = trackSubmission(submissions, { ...record, steps }, wasSent);
      const check = (): void => {
        if (process.env.NODE_ENV !== 'production' && !isKept && !submission.isRepeatable)
          if (!submission.isUnkeyed) warnOfNoKey(statuses, target.mutation);
      };
      try {
        const data = await observer.send(variables, submission);
        check();
        submissions.remove(key);
        return { status: 'succeeded', data };
      } catch (thrown) {
        const error = thrown as TError;
        sent.error = error;
        sent.isChanged = !!submission.isChanged;
        // What this one has not done, another page of the tab may have, which has sent it since.
        const known = submissions.read();
        const isOthers = known?.key === key && known.sentBy !== sentBy;
        if (observer.hasFailed() && !isOthers) {
          // Only what may have been done is kept: the one before it, too, which may be of the same content.
          submissions.undo(key);
          if (!before) return { status: 'failed', error };
          const isSame = before.fingerprint === record.fingerprint;
          sent = isSame ? { key: before.key, variables, error } : sentBefore;
          submission.wasSent = isSame;
          return { status: isSame ? 'unknown' : 'failed', error };
        }
        check();
        // Its API has another lifetime than when it was sent.
        if (reportOf(error, record.createdAt).failure.kind === 'expired')
          submissions.update(key, { expiresAt: record.createdAt });
        return { status: 'unknown', error };
      } finally {
        stay?.();
      }
    },
  };
}

function warnOfNoKey(owner: object, form: string): void {
  warn(
    owner,
    form,
    `useSafeSubmit, ${form}: no request of this submission carried its idempotency key, so it cannot be ` +
      `sent again without asking the user. Send it with the json or fetch of the mutationFn's context, ` +
      `also after an await, or give context.idempotencyKey to another client.`,
  );
}

/** The mutations of a form, one after the other, whoever shows it. */
export interface FormObserver<TData, TError, TVariables, TOnMutateResult> {
  readonly setOptions: (
    options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult>,
  ) => void;
  readonly getResult: () => MutationObserverResult<TData, TError, TVariables, TOnMutateResult>;
  /** Sends it, under the key of this submission. */
  readonly send: (variables: TVariables, submission: Submission) => Promise<TData>;
  /** Whether the newest has surely not been done. */
  readonly hasFailed: () => boolean;
  /** A mutation that succeeds with what is known already. */
  readonly finish: (data: TData, variables: TVariables | undefined) => Promise<unknown>;
  /** Whether somebody keeps what it sends: the page may be left meanwhile. */
  readonly isKept: () => boolean;
  readonly reset: () => void;
}

/** No callback is called with variables that nobody knows. */
const silent: object = {
  onMutate: undefined,
  onSuccess: undefined,
  onError: undefined,
  onSettled: undefined,
};

/** `target` names it for `useMutationStatus`; `listener` is told of each change. */
export function createFormObserver<TData, TError, TVariables, TOnMutateResult>(
  client: QueryClient,
  instance: Instance,
  target: string,
  listener: () => void,
): FormObserver<TData, TError, TVariables, TOnMutateResult> {
  let options: UseMutationOptions<TData, TError, TVariables, TOnMutateResult> = {};
  let submission: Submission | undefined;
  let newest: Mutation | undefined;
  let answer: { readonly data: TData; readonly isSilent: boolean } | undefined;

  const cache = client.getMutationCache();
  const observer = new MutationObserver<TData, TError, TVariables, TOnMutateResult>(client, {});
  observer.subscribe(listener);
  // Asked when the mutation runs, because its options may be others by then.
  const extras = {
    target,
    submissionOf() {
      throwIfRefused(newest);
      return submission as Submission;
    },
    wasSent: () => !!submission?.wasSent,
    answer: () => answer,
  };
  let from: typeof options.mutationFn;
  let extended: typeof options.mutationFn;
  const apply = (): void => {
    // The mutationFn may come from setMutationDefaults.
    const { mutationFn } = client.defaultMutationOptions(options);
    if (from !== mutationFn) extended = extendMutation('useSafeSubmit', mutationFn, extras);
    from = mutationFn;
    const own = { ...options, ...(extended && { mutationFn: extended }) };
    observer.setOptions(answer?.isSilent ? { ...own, ...silent } : own);
  };

  /** One that is removed (`queryClient.clear()`) while it is queued in its scope would wait for ever. */
  const whileQueued = async (
    mutation: Mutation | undefined,
    promise: Promise<TData>,
  ): Promise<TData> => {
    const cancelQueued = (): void => {
      if (mutation?.state.isPaused && !mayHaveBegun(mutation)) cancelMutation(mutation, instance);
    };
    let stopFocus: (() => void) | undefined;
    const stop = cache.subscribe((event) => {
      if (event.type !== 'removed' || event.mutation !== mutation) return;
      cancelQueued();
      // In a hidden tab React Query lets nothing go on: there it ends once the tab is seen.
      stopFocus ??= focusManager.subscribe(cancelQueued);
    });
    try {
      return await promise;
    } finally {
      stop();
      stopFocus?.();
    }
  };

  return {
    setOptions(next) {
      options = next;
      apply();
    },
    getResult: () => observer.getCurrentResult(),
    send(variables, given) {
      submission = given;
      const promise = observer.mutate(variables);
      newest = cache.getAll().findLast((one) => one.options.mutationFn === (extended as unknown));
      return whileQueued(newest, promise);
    },
    hasFailed: () => mutationStatus(newest, cache, instance, undefined).status === 'failed',
    async finish(data, variables) {
      answer = { data, isSilent: variables === undefined };
      apply();
      try {
        await observer.mutate(variables as TVariables);
      } catch {
        // Its callbacks threw, which React Query shows: it is done all the same.
      }
      answer = undefined;
      apply();
    },
    isKept: () => definitionBehind(extended)?.isKept ?? false,
    reset: () => observer.reset(),
  };
}
