import { askBeforeLeaving } from '../lib/browser/page.ts';
import { fingerprintOf } from '../lib/fingerprint.ts';
import { type FormSubmission, planSubmission, toKept } from './submission.ts';
import { type FormContext, type Ended, type Sent, createFormSend } from './send.ts';
import type { Confirmation, SubmitResult } from './safe-submit.ts';

/** The presses of Submit of one form: what they come to, and what is to be shown of them. */
export interface FormPresses<TData, TError, TVariables> {
  readonly press: (variables: TVariables) => Promise<SubmitResult<TData, TError, TVariables>>;
  /** Those whose payload is being read. */
  readonly reading: ReadonlySet<{ readonly variables: TVariables }>;
  /** The latest, when its payload could not be read. */
  readonly unread: { readonly variables: TVariables; readonly error: TError } | undefined;
  /** What the user must be asked. */
  readonly confirmation: Confirmation<TData, TError, TVariables> | undefined;
  /** What this page has sent last. */
  readonly sent: () => Sent<TVariables, TError> | undefined;
  readonly isUnderWay: () => boolean;
  /** Something else ends what has this fingerprint: presses of it belong to that. */
  readonly take: (
    fingerprint: string,
    work: () => Promise<Ended<TData, TError>>,
  ) => Promise<Ended<TData, TError>>;
  /** What comes next belongs to nothing that has ended. */
  readonly forgetEnd: () => void;
  /** This submission was found not to have been done. */
  readonly endAsNotDone: (submission: FormSubmission) => void;
  /** Nothing is to be shown of them. */
  readonly clear: () => void;
}

/**
 * So long after its end, a press of the same payload still belongs to a submission: the second half
 * of a double click, or an action that React has queued behind it.
 */
const echoMs = { succeeded: 1000, failed: 100, unknown: 100 };

interface Pressed<TVariables> {
  readonly variables: TVariables;
  readonly fingerprint: string;
  readonly payload: unknown;
}

/** Makes what a press of Submit of a form calls. */
export function createFormPresses<TData, TError, TVariables, TOnMutateResult>(
  context: FormContext<TData, TError, TVariables, TOnMutateResult>,
): FormPresses<TData, TError, TVariables> {
  type Result = SubmitResult<TData, TError, TVariables>;
  type End = Ended<TData, TError>;
  type Presses = FormPresses<TData, TError, TVariables>;

  const { instance, submissions, options, changed } = context;
  const { clock, wall } = instance;
  const { send, sent } = createFormSend(context);
  const reading = new Set<{ readonly variables: TVariables }>();
  let unread: Presses['unread'];
  let confirmation: Presses['confirmation'];
  let confirmed: { readonly id: string; readonly promise: Promise<End> } | undefined;
  let current: { readonly fingerprint: string; readonly promise: Promise<End> } | undefined;
  let notDone: FormSubmission | undefined;
  let last: { readonly fingerprint: string; readonly result: End; readonly at: number } | undefined;
  /** `seen`: what had ended last when it was pressed, before it was read. */
  const echoOf = (print: string, seen: typeof last): End | undefined => {
    if (last?.fingerprint !== print) return undefined;
    // Pressed while that was under way, however long it has taken to read.
    if (last !== seen) return last.result;
    const sinceMs = clock.now() - last.at;
    return sinceMs >= 0 && sinceMs < echoMs[last.result.status] ? last.result : undefined;
  };
  const forgetEnd = (): void => {
    last = undefined;
  };

  const press = async (variables: TVariables, confirmedKey?: string): Promise<Result> => {
    const one = { variables };
    const seen = last;
    reading.add(one);
    unread = undefined;
    changed();
    const stay = askBeforeLeaving();
    try {
      const print = await fingerprintOf(submissions.secret(), variables);
      // Asked only now: an effect may press before the effect that gives the options.
      const payload = options()?.keepPayload ? toKept(variables) : undefined;
      // Begun before it counts as read, and not waited for.
      const promise = begin({ variables, payload, fingerprint: print }, confirmedKey, seen);
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

  const begin = (
    pressed: Pressed<TVariables>,
    confirmedKey: string | undefined,
    seen: typeof last,
  ): Promise<Result> => {
    const { variables, fingerprint: print } = pressed;
    if (current)
      return current.fingerprint === print ? current.promise : Promise.resolve({ status: 'busy' });
    // What was confirmed once is sent once, whoever still holds the question.
    if (confirmedKey !== undefined && confirmed?.id === confirmedKey + print)
      return confirmed.promise;
    const ended = confirmedKey === undefined ? echoOf(print, seen) : undefined;
    if (ended) return Promise.resolve(ended);
    const nowMs = wall.now();
    const before = sent();
    const plan = planSubmission(submissions.read(), {
      fingerprint: print,
      nowMs,
      confirmedKey,
      notDone,
      changedKey: before?.isChanged ? before.key : undefined,
    });
    confirmation = undefined;
    if (plan.kind === 'ask') {
      const { reason, key } = plan;
      confirmation = {
        reason,
        variables,
        confirm: () => press(variables, key),
        cancel() {
          confirmation = undefined;
          changed();
        },
      };
      return Promise.resolve({ status: 'needs-confirmation', ...confirmation });
    }
    notDone = undefined;
    const submission = { ...plan.submission, payload: pressed.payload };
    const promise = take(print, () => send(variables, submission, plan.wasSent));
    if (confirmedKey !== undefined && submission.key !== confirmedKey)
      confirmed = { id: confirmedKey + print, promise };
    return promise;
  };

  const take: Presses['take'] = (print, work) => {
    const run = async (): Promise<End> => {
      const result = await work();
      last = { fingerprint: print, result, at: clock.now() };
      current = undefined;
      changed();
      return result;
    };
    const promise = run();
    current = { fingerprint: print, promise };
    return promise;
  };

  return {
    press: (variables) => press(variables),
    reading,
    get unread() {
      return unread;
    },
    get confirmation() {
      return confirmation;
    },
    sent,
    isUnderWay: () => current !== undefined,
    take,
    forgetEnd,
    endAsNotDone(submission) {
      submissions.undo(submission.key);
      // What was before it is asked about once more.
      notDone = submission.before ? undefined : submission;
      forgetEnd();
    },
    clear() {
      confirmation = undefined;
      unread = undefined;
      notDone = undefined;
    },
  };
}
