import { reject } from '../policy/check-option.ts';
import { createIdempotencyKey, deriveKey } from '../policy/idempotency-key.ts';
import { fixBody, isSameBody } from './fixed-body.ts';
import type { Intent, Step } from './intent.ts';

/** A request that asks which step of its operation it is. */
export interface StepAsk {
  /** Method and absolute URL. */
  readonly target: string;
  /** The key that it has already. */
  readonly own: string | undefined;
  /** What it is called, so that it needs not be recognised. */
  readonly label: string | undefined;
  readonly attempt: number;
  readonly intent: Intent | undefined;
  /** The body as it was passed this time. */
  readonly body: () => Promise<BodyInit | null>;
}

/**
 * Finds the step that a request is, among those of the attempts before, or begins a new one. One
 * step of an intent has one key, no two share one, and no key ever has two payloads.
 *
 * A step without a name is known by method, URL and occurrence. Where several have the same method
 * and URL, the bytes tell which of them are sent again, so that a retry may skip one; of equal ones,
 * one that is not done comes first.
 *
 * @throws TypeError when it cannot be told which step it is, or its body cannot be sent twice.
 */
export async function takeStep(steps: Step[], ask: StepAsk): Promise<Step> {
  const { target, own, label, attempt, intent, body } = ask;
  const alike = steps.filter((step) => step.target === target && !step.isNamed);
  const name =
    own === undefined ? (label === undefined ? undefined : `#${label}`) : `=${own} ${target}`;
  const id = name ?? `${target} ${alike.length + 1}`;
  const known = name === undefined ? await recognise(alike, ask) : await recall(steps, name, ask);
  if (known) {
    known.attempt = attempt;
    return known;
  }
  const left = steps.find(
    (step) =>
      step.attempt !== attempt &&
      !step.isDone &&
      step.isNamed === (own !== undefined) &&
      label === undefined &&
      pathOf(step.target) === pathOf(target),
  );
  if (left) {
    reject(
      'steady.fetch',
      'idempotencyKey',
      own,
      `what it was on the attempt before, which sent ${pathOf(target)} with another key or another query: made before the mutation, or a name for each request`,
    );
  }
  if (intent && (own === undefined || bare(own) === intent.key)) intent.primary ??= id;
  const key = own ?? (intent?.primary === id ? intent.key : deriveKey(intent?.key ?? '', id));
  // Of an intent it is always the same, so that a form that is sent again after a reload is, too.
  // A key that somebody has thought up could be guessed, and with it the end of a file.
  const boundary = (): string =>
    intent ? deriveKey(intent.key, `boundary ${id}`) : createIdempotencyKey();
  const step: Step = {
    id,
    target,
    key,
    attempt,
    isNamed: name !== undefined,
    body: fixBody(await body(), boundary),
  };
  steps.push(step);
  return step;
}

async function recognise(
  alike: readonly Step[],
  { attempt, body }: StepAsk,
): Promise<Step | undefined> {
  const free = alike.filter((step) => step.attempt !== attempt);
  // One that is done may be what this attempt skips.
  if (free.length === 0 || (alike.length < 2 && !free[0]?.isDone)) return free[0];
  const given = await body();
  const isSame = await Promise.all(free.map((step) => isSameBody(step.body, given)));
  const same = free.filter((_, index) => isSame[index]);
  return (
    same.find(({ isDone }) => !isDone) ??
    same[0] ??
    reject(
      'steady.fetch',
      'idempotencyKey',
      undefined,
      `a name for each of the requests of this mutation to ${shown(alike)}: this attempt sends other bytes, and so it cannot be told which of them it is`,
    )
  );
}

async function recall(
  steps: readonly Step[],
  name: string,
  { target, label, own, attempt, body }: StepAsk,
): Promise<Step | undefined> {
  const step = steps.find(({ id }) => id === name);
  const isAnother =
    step &&
    (step.target !== target ||
      // In one attempt nothing has become of the first that could be the reason.
      (step.attempt === attempt && !(await isSameBody(step.body, await body()))));
  if (isAnother) {
    reject(
      'steady.fetch',
      'idempotencyKey',
      own ?? label,
      'the key of one request, and here are two with different content',
    );
  }
  return step;
}

const pathOf = (target: string): string => target.replace(/\?.*/s, '');
const bare = (key: string): string => key.replace(/^"(.*)"$/s, '$1');

const shown = ([step]: readonly Step[]): string => `${step?.target}`.replace(/[?#].*/s, '');
