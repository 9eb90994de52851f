import { type DevelopmentText, inDevelopment } from '../development.ts';
import { reportOnce } from './check.ts';
import { type Page, warn } from './warn.ts';

/** Receives the mistake of an app's function as a predicate: `threw Error: x`. Empty in production. */
export type OnMistake = (what?: string) => void;

/**
 * Calls a function of the app that returns an answer. Its mistake must not cost a request: if it throws, or
 * returns anything that `isRight` rejects, the answer counts as not given, and `onMistake` is called. A
 * promise is not an answer, and its rejection is ignored.
 */
export function callApp<T>(
  call: () => unknown,
  isRight: (answer: unknown) => answer is T,
  onMistake?: OnMistake,
): T | undefined {
  let answer: unknown;
  try {
    answer = call();
    if (answer === undefined || isRight(answer)) return answer;
    // On a server, an unhandled rejection ends the process.
    Promise.resolve(answer).catch(() => {});
  } catch (error) {
    onMistake?.(inDevelopment(() => `threw ${textOf(error)}`));
    return undefined;
  }
  onMistake?.(inDevelopment(() => `returned ${nameOf(answer)}`));
  return undefined;
}

/** Whether a value is true or false. */
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/**
 * Warns once per owner that a function of the app is wrong. In production only the name of the option is
 * logged; `rule` is for developers.
 */
export const reporterOf =
  (owner: object, option: string, rule: DevelopmentText): OnMistake =>
  (what) => {
    if (process.env.NODE_ENV === 'production') reportOnce(option);
    else warn(owner, `${option} ${what}`, `${option} ${what}; ${rule}.`, pageAbout(option));
  };

/** The page about a function of the app, by the first word of its option. */
function pageAbout(option: string): Page {
  const pages: Readonly<Record<string, Page>> = {
    apis: 'apis.md#fields-of-a-profile',
    outcomes: 'apis/outcomes.md#outcomes-that-the-status-does-not-tell',
    idempotency: 'idempotency.md#answers',
    conditional: 'apis.md#fields-of-a-profile',
    fallback: 'retry/default-options.md#where-an-option-is-given',
    random: 'testing.md#usage',
  };
  return pages[/^\w+/.exec(option)?.[0] ?? ''] ?? 'retry.md#what-is-retried';
}

/**
 * Calls a listener of the app. Its error is reported as uncaught, and affects neither the other listeners nor
 * the caller. Never as a rejection, not even for an async listener: on a server a rejection ends the process.
 */
export function notifyApp<T>(listener: (value: T) => unknown, value: T): void {
  try {
    (listener(value) as Partial<Promise<unknown>> | undefined)?.catch?.(report);
  } catch (error) {
    report(error);
  }
}

function report(error: unknown): void {
  if (typeof reportError === 'function') reportError(error);
  else console.warn(error);
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  const { then } = Object(value) as { readonly then?: unknown };
  return typeof then === 'function' ? 'a promise' : typeof value;
}

/** An error as text. A thrown object may have no text form. */
export function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an object';
  }
}
