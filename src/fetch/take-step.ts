import { reject } from '../policy/check-option.ts';
import { createIdempotencyKey, deriveKey } from '../policy/idempotency-key.ts';
import { fixBody, isSameBody } from './fixed-body.ts';
import type { FixedBody, Intent, Step } from './intent.ts';
import { shown } from './request-parts.ts';

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
 * one that is not done comes first. Of a step from before a reload, the digest tells.
 *
 * @throws TypeError when it cannot be told which step it is, or its body cannot be sent twice.
 */
export async function takeStep(steps: Step[], ask: StepAsk): Promise<Step> {
  const { target, own, label, attempt, intent } = ask;
  const alike = steps.filter((step) => step.target === target && !step.isNamed);
  const name =
    own === undefined ? (label === undefined ? undefined : `#${label}`) : `=${own} ${target}`;
  const id = name ?? nextId(alike, target);
  const known = name === undefined ? await recognise(alike, ask) : await recall(steps, name, ask);
  if (known) {
    if (known.isPast) await bringBack(known, ask);
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
  const isNamed = name !== undefined;
  const step: Step = { id, target, key, attempt, isNamed, ...(await fix(id, ask)) };
  steps.push(step);
  return step;
}

async function fix(
  id: string,
  { intent, body }: StepAsk,
): Promise<{ readonly body: FixedBody; readonly digest: string | undefined }> {
  // Of an intent it is always the same, so that a form that is sent again after a reload is, too.
  // A key that somebody has thought up could be guessed, and with it the end of a file.
  const fixed = fixBody(await body(), () =>
    intent ? deriveKey(intent.key, `boundary ${id}`) : createIdempotencyKey(),
  );
  return { body: fixed, digest: await intent?.digest?.(fixed) };
}

async function bringBack(step: Step, ask: StepAsk): Promise<void> {
  const { body, digest } = await fix(step.id, ask);
  if (digest !== step.digest) refuseOther(step, ask);
  Object.assign(step, { body, isPast: false });
}

async function isSame(step: Step, ask: StepAsk): Promise<boolean> {
  return step.isPast
    ? (await fix(step.id, ask)).digest === step.digest
    : isSameBody(step.body, await ask.body());
}

/** One that is not sent leaves a gap. */
function nextId(alike: readonly Step[], target: string): string {
  for (let count = alike.length + 1; ; count++) {
    const id = `${target} ${count}`;
    if (!alike.some((step) => step.id === id)) return id;
  }
}

async function recognise(alike: readonly Step[], ask: StepAsk): Promise<Step | undefined> {
  const { attempt } = ask;
  const free = alike.filter((step) => step.attempt !== attempt);
  // One that is done may be what this attempt skips.
  if (free.length === 0 || (alike.length < 2 && !free[0]?.isDone)) return free[0];
  const isSameAs = await Promise.all(free.map((step) => isSame(step, ask)));
  const same = free.filter((_, index) => isSameAs[index]);
  return same.find(({ isDone }) => !isDone) ?? same[0] ?? refuseOther(free[0], ask);
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
  if (isAnother) refuseTwo(own ?? label);
  return step;
}

function refuseOther(step: Step | undefined, { own, label }: StepAsk): never {
  if (step?.isNamed) refuseTwo(own ?? label);
  reject(
    'steady.fetch',
    'idempotencyKey',
    undefined,
    `a name for each of the requests of this mutation to ${shown(`${step?.target}`)}: this attempt sends other bytes, and so it cannot be told which of them it is`,
  );
}

function refuseTwo(name: string | undefined): never {
  reject(
    'steady.fetch',
    'idempotencyKey',
    name,
    'the key of one request, and here are two with different content',
  );
}

const pathOf = (target: string): string => target.replace(/\?.*/s, '');
const bare = (key: string): string => key.replace(/^"(.*)"$/s, '$1');
