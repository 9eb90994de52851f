import { describe, expect, test } from 'vitest';
import { checkMisnamed, checkNames } from '../../../src/core/lib/input/check.ts';

const names = ['maxRetries', 'timeout', 'queries'];
const elsewhere = { policy: 'there: { policy }', deadlineMs: 'policy: { deadlineMs }' };

describe('a name that is not among the options', () => {
  test.each([
    ['maxRetry', ': did you mean maxRetries?'],
    ['retries', ': did you mean maxRetries?'],
    ['MAXRETRIES', ': did you mean maxRetries?'],
    ['timeoutMs', ': did you mean timeout?'],
    ['query', ': did you mean queries?'],
    ['policy', ': did you mean there: { policy }?'],
    ['deadline', ': did you mean policy: { deadlineMs }?'],
    ['onRetryFailure', ''],
    ['toString', ''],
    ['x', ''],
  ])('%s: the error names what was meant%s', (name, hint) => {
    expect(() => checkNames('it', { [name]: 1 }, names, elsewhere)).toThrow(
      new TypeError(
        `it: ${name} is 1, and must be left out: the options are maxRetries, timeout, queries${hint}.`,
      ),
    );
  });

  test.each([[undefined], [null], [5], ['/ping'], [[]]])('%j is no object', (options) => {
    expect(() => checkNames('it', options, names)).toThrow(
      /^it: its argument is .*, and must be an object\.$/,
    );
  });
});

describe('a name among the options of somebody else', () => {
  const check = (options: object) => () =>
    checkMisnamed('it', options, names, ['timeouts'], elsewhere);

  test.each([
    ['maxRetry', 'maxRetries'],
    ['timout', 'timeout'],
    ['retries', 'maxRetries'],
    ['deadlineMs', 'policy: { deadlineMs }'],
  ])('%s is ours, and misspelt or misplaced', (name, meant) => {
    expect(check({ [name]: 1 })).toThrow(
      new TypeError(`it: ${name} is 1, and must be left out: did you mean ${meant}?.`),
    );
  });

  test.each(['timeout', 'timeouts', 'retry', 'next', 'cache', 'method'])(
    '%s may be meant as it is',
    (name) => {
      expect(check({ [name]: 1 })).not.toThrow();
    },
  );

  test('what is undefined is not given', () => {
    expect(check({ maxRetry: undefined })).not.toThrow();
  });
});
