import { type Change, describe } from '../api.ts';
import { type Dialect, isDone } from '../dialects.ts';
import { all, type Finding, holds, met, skipped, unknown, violated, times } from '../finding.ts';
import {
  type Check,
  declaredBy,
  difference,
  draft,
  perform,
  type Requirement,
} from './requirement.ts';
import { describesProblem } from './simultaneous.ts';

const inHeader: Requirement['appliesTo'] = ({ profile }) => profile.header !== undefined;
const isStructured = ({ profile }: Dialect): boolean =>
  profile.header !== undefined &&
  ((profile as { format?: string }).format ?? 'structured') === 'structured';
const isRequired: Requirement['appliesTo'] = ({ key }) => key === 'required';
const hasLongest: Requirement['appliesTo'] = ({ profile }) => profile.maxLength !== undefined;

/** A new operation under each of two keys, made from a new one: they must not be taken for the same. */
async function differ(
  check: Check,
  write: (key: string) => readonly [one: string, other: string],
): Promise<Finding> {
  const { api, evidence, declared } = check;
  const [one, other] = write(api.newKey());
  const first = await api.send(api.operation(one));
  if (!isDone(declared, first)) return unknown(`the key ${one} is answered ${describe(first)}`);
  const second = await api.sendUntilAnswered(api.operation(other));
  if (isDone(declared, second)) {
    const isReplay = second.headers[declared.replayHeader ?? 'idempotent-replayed'] === 'true';
    const isSame = evidence.canTell ? evidence.isSameOperation(first, second) : isReplay;
    return holds(!isSame, `the key ${other} gets the answer of ${one}`);
  }
  // Either for its form, or for the key before it.
  const alone = await api.send(api.operation(write(api.newKey())[1]));
  return isDone(declared, alone)
    ? violated(`the key ${other}, after ${one}: ${describe(second)}`)
    : unknown(`a key such as ${other} is answered ${describe(alone)}`);
}

/** The same for several pairs: one that is refused for its form is no fault. */
async function allDiffer(
  check: Check,
  pairs: readonly ((key: string) => readonly [one: string, other: string])[],
): Promise<Finding> {
  for (const write of pairs) {
    const finding = await differ(check, write);
    if (finding.kind === 'violated') return finding;
  }
  return met;
}

/** A request with a malformed key is refused, and not done. */
async function refusesKey(check: Check, change: Change): Promise<Finding> {
  const { api, evidence, declared } = check;
  const { result, effects } = await evidence.measure(() => api.send(api.operation(), change));
  if (isDone(declared, result)) return violated(`it is done: ${describe(result)}`);
  return all(
    holds(result.status >= 400 && result.status < 500, `it is answered ${describe(result)}`),
    holds(
      effects === undefined || effects === 0,
      `refused, and done ${times(effects)}, by the count`,
    ),
  );
}

/** An operation whose key is written in another way the second time. */
async function sameKey(check: Check, key: string, field: string): Promise<Finding> {
  const { api, declared } = check;
  const operation = api.operation(key);
  const first = await api.send(operation);
  if (!isDone(declared, first)) return violated(`the key ${key} is answered ${describe(first)}`);
  const again = await api.sendUntilAnswered(operation, { field });
  const differs = difference(check, first, again);
  return holds(differs === undefined, `${field}: ${differs}`);
}

const pad = (key: string, length: number): string =>
  key.padEnd(length, '0123456789').slice(0, length);

const missing = (check: Check) =>
  check.once('missing', () =>
    check.evidence.measure(() => check.api.send(check.api.operation(), { field: null })),
  );

/** Two operations with an empty key. */
const emptyKeys = (check: Check) =>
  check.once('empty keys', () =>
    check.evidence.measure(async () => {
      const { api, declared } = check;
      const field = isStructured(declared) ? '""' : '';
      const first = await api.send(api.operation(), { field });
      return [first, await api.sendUntilAnswered(api.operation(), { field })] as const;
    }),
  );

/** Which values are keys, and which keys are different. */
export const keys: readonly Requirement[] = [
  {
    id: 'key-missing-refused',
    sentence: 'A request without a key is refused with 400, if the API requires one.',
    source: draft('2.7'),
    level: 'must',
    appliesTo: isRequired,
    run: async (check) => {
      const { result } = await missing(check);
      return holds(
        result.status === 400,
        `it is answered ${describe(result)} (say --key optional if that is right)`,
      );
    },
  },
  {
    id: 'key-missing-not-run',
    sentence: 'A request without a key is not done, if the API requires one.',
    source: draft('2.7'),
    level: 'must',
    appliesTo: isRequired,
    run: async (check) => {
      const { result, effects } = await missing(check);
      return check.evidence.notRun(effects, result);
    },
  },
  {
    id: 'key-missing-problem',
    sentence: 'The refusal of a missing key describes the problem, or links its description.',
    source: draft('2.7'),
    level: 'should',
    appliesTo: isRequired,
    run: async (check) => {
      const { result } = await missing(check);
      return isDone(check.declared, result)
        ? skipped('it is not refused')
        : describesProblem(result);
    },
  },
  {
    id: 'no-key-each-runs',
    sentence: 'Without a key, each request is done.',
    source: declaredBy,
    level: 'must',
    appliesTo: ({ key }) => key === 'optional',
    run: async (check) => {
      const { api, evidence, declared } = check;
      const operation = api.operation();
      const measured = await evidence.measure(async () => {
        const first = await api.send(operation, { field: null });
        return [first, await api.send(operation, { field: null })] as const;
      });
      const [first, second] = measured.result;
      if (!isDone(declared, first))
        return unknown(`it is answered ${describe(first)}: say --key required if that is right`);
      if (!isDone(declared, second)) return skipped('the API refuses the same bytes a second time');
      return measured.effects === undefined && evidence.canTell
        ? holds(!evidence.isSameOperation(first, second), 'both get the same answer')
        : evidence.ranTimes(2, measured);
    },
  },
  {
    id: 'key-empty',
    sentence: 'An empty key is refused: it would be one key for all.',
    source: draft('2.2'),
    level: 'should',
    appliesTo: isRequired,
    run: async (check) => {
      const { result, effects } = await emptyKeys(check);
      return holds(
        !result.some((answer) => isDone(check.declared, answer)) && !effects,
        `it is answered ${result.map(describe).join(' | ')}`,
      );
    },
  },
  {
    id: 'key-empty-not-shared',
    sentence: 'Two operations with an empty key are not taken for one.',
    source: draft('2.2'),
    level: 'must',
    run: async (check) => {
      const { evidence, declared } = check;
      const [first, second] = (await emptyKeys(check)).result;
      if (!isDone(declared, first)) return met;
      return holds(
        isDone(declared, second) && !(evidence.canTell && evidence.isSameOperation(first, second)),
        `first ${describe(first)}, then, with other bytes, ${describe(second)}`,
      );
    },
  },
  {
    id: 'key-unquoted',
    sentence: 'A key without quotes is refused.',
    source: draft('2.1'),
    level: 'should',
    appliesTo: isStructured,
    run: (check) => refusesKey(check, { field: check.api.newKey() }),
  },
  {
    id: 'key-not-string',
    sentence: 'A token, a number, a boolean and a byte sequence are refused: a key is a String.',
    source: 'RFC 9651 §3.3.3',
    level: 'should',
    appliesTo: isStructured,
    run: async (check) => {
      for (const field of ['token', '42', '?1', ':YWJj:', '"unfinished']) {
        const finding = await refusesKey(check, { field });
        if (finding.kind === 'violated') return violated(`${field}: ${finding.seen}`);
      }
      return met;
    },
  },
  {
    id: 'key-parameters',
    sentence: 'Parameters behind the String do not make it another key.',
    source: 'RFC 9651 §3.3',
    level: 'should',
    appliesTo: isStructured,
    run: (check) => {
      const key = check.api.newKey();
      return sameKey(check, key, `"${key}";v=1`);
    },
  },
  {
    id: 'key-escapes',
    sentence: 'A key with an escaped quote and backslash is a key like others.',
    source: 'RFC 9651 §3.3.3',
    level: 'should',
    appliesTo: isStructured,
    run: async (check) => {
      const key = `${check.api.newKey().slice(0, 20)}"\\`;
      const { api, declared } = check;
      const operation = api.operation(key);
      const first = await api.send(operation);
      if (!isDone(declared, first)) return violated(`it is answered ${describe(first)}`);
      const differs = difference(check, first, await api.sendUntilAnswered(operation));
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'key-twice',
    sentence: 'Two keys in one request are refused.',
    source: draft('2.1'),
    level: 'should',
    appliesTo: inHeader,
    run: (check) => {
      const quote = isStructured(check.declared) ? '"' : '';
      const field = [check.api.newKey(), check.api.newKey()].map((key) => `${quote}${key}${quote}`);
      return refusesKey(check, { field });
    },
  },
  {
    id: 'key-not-ascii',
    sentence: 'A key with characters outside ASCII is refused.',
    source: 'RFC 9651 §3.3.3',
    level: 'should',
    appliesTo: isStructured,
    run: (check) => refusesKey(check, { field: `"${check.api.newKey().slice(0, 8)}é"` }),
  },
  {
    id: 'key-header-case',
    sentence: 'The name of the header is read in any case.',
    source: 'RFC 9110 §5.1',
    level: 'must',
    appliesTo: inHeader,
    run: async (check) => {
      const { operation, first } = await perform(check);
      const name = check.declared.profile.header ?? '';
      const outgoing = check.api.compose(operation).headers[name];
      const headers = { [name.toUpperCase()]: typeof outgoing === 'string' ? outgoing : '' };
      const again = await check.api.sendUntilAnswered(operation, { field: null, headers });
      const differs = difference(check, first, again);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'key-case',
    sentence: 'Keys that differ in case only are different keys.',
    source: draft('2.2'),
    level: 'must',
    run: (check) =>
      // No UUID, whose letters are the same in any case (RFC 9562).
      differ(check, (key) => [`${key.slice(0, 24)}ab`, `${key.slice(0, 24)}ab`.toUpperCase()]),
  },
  {
    id: 'key-last-character',
    sentence: 'Keys that differ in their last character only are different keys.',
    source: draft('2.2'),
    level: 'must',
    run: (check) => differ(check, (key) => [`${key.slice(0, -1)}0`, `${key.slice(0, -1)}1`]),
  },
  {
    id: 'key-space',
    sentence: 'A space at the end of a String belongs to the key.',
    source: 'RFC 9651 §3.3.3',
    level: 'should',
    appliesTo: isStructured,
    run: (check) => differ(check, (key) => [key.slice(0, 20), `${key.slice(0, 20)} `]),
  },
  {
    id: 'key-names',
    sentence: 'Keys that are names of the language (constructor, __proto__) are keys like others.',
    source: draft('6, injection'),
    level: 'must',
    run: async (check) => {
      const { api, declared, evidence } = check;
      for (const key of ['constructor', '__proto__', 'toString']) {
        const first = await api.send(api.operation(key));
        // The key may be refused by its format, or known from an earlier check.
        if (first.status === 0 || first.status >= 500)
          return violated(`${key} is answered ${describe(first)}`);
        const own = await api.send(api.operation());
        if (isDone(declared, first) && evidence.canTell && evidence.isSameOperation(own, first))
          return violated(`${key} gets the answer of another key`);
      }
      return met;
    },
  },
  {
    id: 'key-patterns',
    sentence: 'Keys with *, %, _ and quotes match no other key.',
    source: draft('6, injection'),
    level: 'must',
    run: (check) =>
      allDiffer(
        check,
        ['*', '%', '_', '?', "'--"].map((end) => (key) => [
          `${key.slice(0, 20)}x`,
          `${key.slice(0, 20)}${end}`,
        ]),
      ),
  },
  {
    id: 'key-longest',
    sentence: 'A key of the declared length, or of 64 characters, is taken.',
    source: declaredBy,
    level: 'must',
    run: async (check) => {
      const { api, declared } = check;
      const { maxLength = 64 } = declared.profile;
      const operation = api.operation(pad(api.newKey(), Math.min(maxLength, 4096)));
      const first = await api.send(operation);
      if (!isDone(declared, first))
        return violated(
          `of ${operation.key.length} characters: ${describe(first)} (--max-length says what is right)`,
        );
      const differs = difference(check, first, await api.sendUntilAnswered(operation));
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'key-too-long',
    sentence: 'A key that is longer than declared is refused.',
    source: declaredBy,
    level: 'should',
    appliesTo: hasLongest,
    run: (check) => {
      const { maxLength = 255 } = check.declared.profile;
      const key = pad(check.api.newKey(), maxLength + 1);
      return refusesKey(check, {
        field:
          check.api.compose(check.api.operation(key)).headers[
            check.declared.profile.header ?? ''
          ] ?? key,
      });
    },
  },
  {
    id: 'key-not-cut',
    sentence: 'Long keys that differ at their end are different keys, or refused.',
    source: draft('2.2'),
    level: 'must',
    run: (check) => {
      const { maxLength = 255 } = check.declared.profile;
      return allDiffer(
        check,
        [maxLength, maxLength + 45].map((length) => (key) => {
          const start = pad(key, length - 1);
          return [`${start}a`, `${start}b`];
        }),
      );
    },
  },
];
