import { reject } from '../lib/input/check.ts';
import { shown } from '../lib/input/url.ts';
import type { Submission, Step, Steps } from '../operation/parts/submission.ts';
import { fixBody, isSameBody } from './body.ts';
import { createIdempotencyKey, deriveKey } from './key.ts';

/** A request that asks which step of its operation it is. */
interface StepAsk {
  /** Method and absolute URL. */
  readonly target: string;
  /** The key that it has already. */
  readonly own: string | undefined;
  /** Its name. */
  readonly name: string | undefined;
  readonly attempt: number;
  readonly submission: Submission | undefined;
  /** The body as it was passed this time. */
  readonly body: () => Promise<BodyInit | null>;
}

/**
 * Tells which step of its operation a request is. The first of an execution needs no name, and every
 * other one does: so its key depends on nothing but the key of the operation and its name, whatever
 * was refused before it was sent, left out or reordered. No two steps share a key, and no key has two
 * payloads.
 *
 * What is wrong stops every request of the attempt that is not sent yet: of two that are made together
 * without a name, neither goes.
 *
 * @throws TypeError when it has no name and needs one, or is not what it was when it was sent.
 */
export async function takeStep(steps: Steps, ask: StepAsk): Promise<Step> {
  const { attempt, own, name, target } = ask;
  const stop = (error: unknown): never => {
    steps.mistake ??= { attempt, error };
    throw error;
  };
  const first = steps.asked?.attempt === attempt ? steps.asked.target : undefined;
  // Before anything is awaited: whoever asks next is the second.
  steps.asked = { attempt, target: first ?? target };
  if (first !== undefined && own === undefined && name === undefined)
    return stop(missingName(target, first));
  const step = steps.turn.then(() => find(steps, ask)).catch(stop);
  steps.turn = step.catch(() => {});
  await step;
  if (steps.mistake?.attempt === attempt) throw steps.mistake.error;
  return step;
}

async function find({ known, wasSent }: Steps, ask: StepAsk): Promise<Step> {
  const { attempt, target } = ask;
  const id = idOf(ask);
  const step = known.get(id);
  const begin = async (refusals?: number): Promise<Step> => {
    refuseNewKey(known.values(), ask);
    const key = keyOf(id, refusals, ask);
    const made: Step = { id, target, key, attempt, refusals, ...(await fix(id, ask)) };
    known.set(id, made);
    return made;
  };
  const isAgain = step?.attempt === attempt;
  // What was never sent binds nobody.
  if (!step || (step.sentAt === undefined && !isAgain)) return begin(step?.refusals);
  const isElsewhere = step.target !== target;
  const refuse = (isSent: boolean, what: string): never => {
    if (step.attempt === 0) ask.submission?.recordChanged();
    return refuseStep(ask, isSent, what);
  };
  // Nor does what was surely not done before this operation; but one key never has two payloads.
  if (step.attempt === 0 && !wasSent && (isElsewhere || !(await isSame(step, ask))))
    return begin((step.refusals ?? 0) + 1);
  if (isElsewhere) refuse(isAgain, `another URL, ${shown(step.target)}`);
  if (isAgain && !(await isSame(step, ask))) refuse(true, 'another body');
  if (step.body === undefined) {
    if (!(await isSame(step, ask))) refuse(false, 'another body, whose bytes are not kept');
    step.body = (await fix(id, ask)).body;
  }
  step.attempt = attempt;
  return step;
}

function idOf({ own, name, submission }: StepAsk): string {
  // Whoever writes the key of the operation by hand means its first request.
  if (own !== undefined) return submission && bare(own) === submission.key ? '' : `=${own}`;
  return name === undefined ? '' : `#${name}`;
}

function keyOf(id: string, refusals = 0, { own, submission }: StepAsk): string {
  const key = submission?.key ?? '';
  return own ?? (id === '' && refusals === 0 ? key : deriveKey(key, `${refusals} ${id}`));
}

async function fix(
  id: string,
  { submission, body }: StepAsk,
): Promise<Pick<Step, 'body' | 'digest'>> {
  // Of a submission it is always the same, so that a form that is sent again after a reload is, too.
  // A key that somebody has thought up could be guessed, and with it the end of a file.
  const fixed = fixBody(await body(), () =>
    submission ? deriveKey(submission.key, `boundary ${id}`) : createIdempotencyKey(),
  );
  return { body: fixed, digest: await submission?.digest(fixed) };
}

async function isSame({ id, body, digest }: Step, ask: StepAsk): Promise<boolean> {
  if (body === undefined) return (await fix(id, ask)).digest === digest;
  return isSameBody(body, await ask.body());
}

/** A key of the app's own that is made anew on each attempt would be another order each time. */
function refuseNewKey(steps: Iterable<Step>, { own, target, attempt }: StepAsk): void {
  if (own === undefined) return;
  for (const { id, target: before, attempt: last, sentAt, isDone } of steps)
    if (!id.startsWith('#') && last !== attempt && sentAt !== undefined && !isDone)
      if (pathOf(before) === pathOf(target))
        reject(
          'steady.fetch',
          'idempotencyKey',
          own,
          process.env.NODE_ENV !== 'production' &&
            `what it was on the attempt before, which has sent ${pathOf(target)} with another key: make it before the mutation`,
        );
}

function missingName(target: string, first: string): TypeError {
  if (process.env.NODE_ENV === 'production')
    return new TypeError(`steady.fetch: step is missing for ${shown(target)}.`);
  return new TypeError(
    `steady.fetch: step is missing for ${shown(target)}. Only the first request with an idempotency key of a mutation needs no name, and that was ${shown(first)}. Give this one a name that is the same on every attempt: json(url, { step: 'pay' }).`,
  );
}

function refuseStep({ own, name, target }: StepAsk, isAgain: boolean, what: string): never {
  const rule =
    process.env.NODE_ENV !== 'production' &&
    (isAgain
      ? `the name of one request, and this attempt has sent it with ${what}`
      : `the name of the same request on every attempt, and it was sent before with ${what}: a new one needs a name of its own`);
  if (own !== undefined) reject('steady.fetch', 'idempotencyKey', own, rule);
  reject('steady.fetch', 'step', name, rule && `${rule} (${shown(target)})`);
}

const pathOf = (target: string): string => target.replace(/\?.*/s, '');
const bare = (key: string): string => key.replace(/^"(.*)"$/s, '$1');
