import { reportOnce } from './check.ts';
import { warn } from './warn.ts';

/** Is told what a function of the app has done wrong, as a predicate: `threw Error: x`. Empty in production. */
export type OnMistake = (what: string) => void;

/**
 * Calls a function of the app that is asked a question. A mistake in it must not cost anybody a request:
 * where it throws, or answers with anything but what `isRight`, it counts as not given, and `onMistake` is
 * told. A promise is no answer, and its rejection harms nobody.
 */
export function callApp<T>(
  call: () => unknown,
  isRight: (answer: unknown) => answer is T,
  onMistake?: OnMistake,
): T | undefined {
  let what = '';
  try {
    const answer = call();
    if (answer === undefined || isRight(answer)) return answer;
    // On a server, a rejection that nobody handles ends the process.
    Promise.resolve(answer).catch(() => {});
    if (process.env.NODE_ENV !== 'production') what = `returned ${nameOf(answer)}`;
  } catch (error) {
    if (process.env.NODE_ENV !== 'production') what = `threw ${textOf(error)}`;
  }
  onMistake?.(what);
  return undefined;
}

/** Whether a value is true or false. */
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';

/**
 * Says once per owner that a function of the app is wrong: in production by the name of the option alone.
 * `rule` is for developers.
 */
export const reporterOf =
  (owner: object, option: string, rule: string | false): OnMistake =>
  (what) => {
    if (process.env.NODE_ENV === 'production') reportOnce(option);
    else warn(owner, `${option} ${what}`, `${option} ${what}; ${rule}.`);
  };

/**
 * Tells a listener of the app. Its error is reported as one that nobody has caught, and disturbs neither
 * the other listeners nor who tells them. Not as a rejection, also that of an async function: on a server
 * that ends the process.
 */
export function tellApp<T>(listener: (value: T) => unknown, value: T): void {
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

/** An error as text: what is thrown may be an object that cannot be written. */
export function textOf(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'an object';
  }
}
