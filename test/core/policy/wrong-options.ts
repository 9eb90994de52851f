const timerMax = '2147483647';
const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

/** A policy option that is not as it must be, and what its error has to tell. */
export interface WrongOption {
  readonly option: string;
  readonly value: unknown;
  /** The value, for the name of a test. */
  readonly label: string;
  /** What must be shown of the value. */
  readonly shown: string;
  /** What must be said of the allowed range. */
  readonly range: readonly string[];
}

type Value = readonly [value: unknown, shown: string, label?: string];

const wrong = (option: string, range: readonly string[], values: readonly Value[]): WrongOption[] =>
  values.map(([value, shown, label = shown]) => ({ option, value, shown, label, range }));

const notANumber: readonly Value[] = [
  [NaN, 'NaN'],
  [-Infinity, '-Infinity'],
  [-1, '-1'],
  ['1000', '1000', 'the string 1000'],
  ['', '', 'an empty string'],
  [null, 'null'],
  [true, 'true'],
  [[3], '3', 'an array'],
  [Symbol('three'), '', 'a symbol'],
  [() => 3, '', 'a function'],
  [{ ms: 3 }, '3', 'an object'],
];

const notADelay: readonly Value[] = [
  ...notANumber,
  [Infinity, 'Infinity'],
  // A timer fires at once.
  [2 ** 31, '2147483648'],
];

/** The mistakes that a user of plain JavaScript can make. */
export const wrongOptions: readonly WrongOption[] = [
  ...wrong(
    'preset',
    ['interactive', 'background', 'critical'],
    [
      ['gentle', 'gentle'],
      ['toString', 'toString'],
      ['', '', 'an empty string'],
      [0, '0'],
      [null, 'null'],
      [{ baseMs: 7 }, '7', 'an object'],
    ],
  ),
  ...wrong(
    'backoff',
    ['full', 'equal', 'decorrelated', 'proportional', 'none'],
    [
      ['exponential', 'exponential'],
      ['Full', 'Full'],
      ['constructor', 'constructor'],
      [1000, '1000'],
      [null, 'null'],
      [false, 'false'],
    ],
  ),
  ...wrong('baseMs', ['0', timerMax], notADelay),
  ...wrong('capMs', ['0', timerMax], notADelay),
  ...wrong('factor', ['1', '100'], [...notANumber, [Infinity, 'Infinity'], [0, '0'], [0.5, '0.5']]),
  ...wrong(
    'maxRetries',
    ['0', 'Infinity'],
    [...notANumber, [3n, '3', 'the bigint 3'], [cyclic, '', 'an object that contains itself']],
  ),
  ...wrong('deadlineMs', ['0', 'Infinity'], notANumber),
  ...wrong(
    'timeout',
    ['1', 'Infinity', 'headersMs', 'bodyIdleMs'],
    [
      ...notANumber,
      [0, '0'],
      [{ headersMs: 1234 }, '1234', 'headersMs alone'],
      [{ bodyIdleMs: 1234 }, '1234', 'bodyIdleMs alone'],
      [{ headersMs: 1234, bodyIdleMs: -5 }, '-5', 'a wrong bodyIdleMs'],
      [{ headersMs: NaN, bodyIdleMs: 1234 }, 'NaN', 'headersMs: NaN'],
      [{ headersMs: 5n, bodyIdleMs: 1234 }, '5', 'headersMs: a bigint'],
    ],
  ),
  ...wrong('uploadBytesPerSecond', ['1', 'Infinity'], [...notANumber, [0, '0'], [0.5, '0.5']]),
  // Up to a fifth goes on top of it, and the sum must fit a timer.
  ...wrong('maxRetryAfterMs', ['0', '1789569705'], [...notADelay, [1_789_569_706, '1789569706']]),
  ...wrong(
    'shouldRetry',
    ['function'],
    [
      [true, 'true'],
      ['always', 'always'],
      [null, 'null'],
      [{ retry: true }, 'true', 'an object'],
    ],
  ),
  // A misspelt option does nothing, which is worse than an error.
  ...wrong('retries', ['maxRetries'], [[3, '3']]),
  ...wrong('deadline', ['deadlineMs'], [[1000, '1000']]),
  ...wrong('toString', ['baseMs'], [['x', 'x']]),
  ...wrong('constructor', ['baseMs'], [['x', 'x']]),
];
