import { describe } from '../api.ts';
import { enlarge, leavesOf, readJson, variantsOf } from '../body.ts';
import { isDone, isMismatch } from '../dialects.ts';
import type { Measured } from '../evidence.ts';
import { all, type Finding, holds, met, skipped, unknown, violated, times } from '../finding.ts';
import type { Answer } from '../wire.ts';
import {
  type Check,
  type Done,
  difference,
  isOwn,
  isSameContent,
  draft,
  perform,
  type Requirement,
  requireDone,
} from './requirement.ts';
import { describesProblem } from './simultaneous.ts';

const comparesBytes: Requirement['appliesTo'] = ({ mismatch }) => !mismatch.includes('replayed');

interface Mismatched extends Done {
  readonly refused: Answer;
  readonly after: Answer;
  readonly measured: Measured<Answer>;
}

/** An operation that was done, then other bytes with its key, then the operation again. */
const mismatched = (check: Check): Promise<Mismatched> =>
  check.once('mismatched', async () => {
    const { api, evidence } = check;
    const { operation, first } = await perform(check);
    const text = api.otherText(operation.text);
    const measured = await evidence.measure(() => api.sendUntilAnswered(operation, { text }));
    const after = await api.sendUntilAnswered(operation);
    return { operation, first, refused: measured.result, after, measured };
  });

/** Whether other bytes under a known key are refused and not done. */
async function refuses(check: Check, { operation, first }: Done, text: string): Promise<Finding> {
  const { result, effects } = await check.evidence.measure(() =>
    check.api.sendUntilAnswered(operation, { text }),
  );
  // A value that the API never takes may be refused as such.
  if (!isDone(check.declared, result) && result.status > 0 && result.status < 500)
    return holds(
      effects === undefined || effects === 0,
      `refused, and done ${times(effects)}, by the count`,
    );
  const isReplay = isDone(check.declared, result) && difference(check, first, result) === undefined;
  return violated(
    isReplay
      ? `other bytes get the answer of the first ones: ${describe(result)}`
      : `it is answered ${describe(result)}`,
  );
}

/** The same key with other bytes. */
export const payloads: readonly Requirement[] = [
  {
    id: 'mismatch-refused',
    sentence: 'Other bytes with a known key are refused, with the declared status.',
    source: draft('2.7'),
    level: 'must',
    appliesTo: comparesBytes,
    run: async (check) => {
      const { refused } = await mismatched(check);
      const { mismatch } = check.declared;
      return holds(
        isMismatch(check.declared, refused),
        `declared: ${mismatch.join(' or ')}; answered ${describe(refused)}`,
      );
    },
  },
  {
    id: 'mismatch-not-run',
    sentence: 'Other bytes with a known key are not done.',
    source: draft('2.2'),
    level: 'must',
    run: async (check) => {
      const { first, refused, measured } = await mismatched(check);
      const { canTell, canCount } = check.evidence;
      const isReplay = difference(check, first, refused) === undefined;
      if (isReplay && (canTell || canCount)) return holds(!measured.effects, 'done, by the count');
      return check.evidence.notRun(measured.effects, refused);
    },
  },
  {
    id: 'mismatch-keeps-first',
    sentence: 'After other bytes were refused, the first ones still get their answer.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { first, after } = await mismatched(check);
      const differs = difference(check, first, after);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'mismatch-shows-nothing',
    sentence: 'The refusal of other bytes does not show the answer of the first ones.',
    source: draft('6, data leaks'),
    level: 'must',
    appliesTo: comparesBytes,
    run: async (check) => {
      const { first, refused } = await mismatched(check);
      const shows = first.text.length > 2 && refused.text.includes(first.text);
      if (isDone(check.declared, refused)) return skipped('other bytes are not refused');
      return holds(!shows, `the refusal contains it: ${describe(refused)}`);
    },
  },
  {
    id: 'mismatch-problem',
    sentence: 'The refusal of other bytes describes the problem, or links its description.',
    source: draft('2.7'),
    level: 'should',
    appliesTo: comparesBytes,
    run: async (check) => {
      const { refused } = await mismatched(check);
      if (isDone(check.declared, refused)) return skipped('other bytes are not refused');
      return describesProblem(refused);
    },
  },
  {
    id: 'mismatch-same-length',
    sentence: 'Other bytes of the same length are refused, too.',
    source: draft('2.4'),
    level: 'must',
    appliesTo: comparesBytes,
    run: async (check) => {
      const done = await perform(check);
      const { text } = done.operation;
      const same = variantsOf(text, check.api.bodyType).find(
        (one) =>
          one.text.length === JSON.stringify(readJson(text) ?? text).length ||
          one.text.length === text.length,
      );
      return same ? refuses(check, done, same.text) : unknown('the body has no value to change');
    },
  },
  {
    id: 'mismatch-nested',
    sentence: 'Other bytes that differ only inside a nested object are refused, too.',
    source: draft('2.4'),
    level: 'must',
    needs: ['json'],
    appliesTo: comparesBytes,
    run: async (check) => {
      const done = await perform(check);
      const isNested = leavesOf(readJson(done.operation.text)).some(([path]) => path.length > 1);
      if (!isNested) return skipped('the body has no nested object');
      const variants = variantsOf(done.operation.text, check.api.bodyType);
      const nested = variants.find(({ depth }) => depth > 1);
      return nested ? refuses(check, done, nested.text) : unknown('it has no value to change');
    },
  },
  {
    id: 'mismatch-any-field',
    sentence: 'Whichever field of the body differs, it is refused.',
    source: draft('2.4'),
    level: 'should',
    needs: ['json'],
    appliesTo: comparesBytes,
    run: async (check) => {
      const done = await perform(check);
      const variants = variantsOf(done.operation.text, check.api.bodyType).slice(0, 12);
      for (const { text } of variants) {
        const finding = await refuses(check, done, text);
        if (finding.kind === 'violated') return violated(`${text}: ${finding.seen}`);
      }
      return variants.length > 0 ? met : unknown('the body has no value to change');
    },
  },
  {
    id: 'mismatch-empty',
    sentence: 'An empty body with a known key neither gets its answer nor is done.',
    source: draft('2.2'),
    level: 'must',
    appliesTo: (declared) => comparesBytes(declared) && declared.profile.body === undefined,
    run: async (check) => {
      const { operation, first } = await perform(check);
      const { result, effects } = await check.evidence.measure(() =>
        check.api.sendUntilAnswered(operation, { text: '' }),
      );
      const isReplay = difference(check, first, result) === undefined;
      return all(
        holds(!isReplay, `it gets the answer: ${describe(result)}`),
        holds(!isDone(check.declared, result), `it is done: ${describe(result)}`),
        holds(effects === undefined || effects === 0, `done ${times(effects)}, by the count`),
      );
    },
  },
  {
    id: 'mismatch-query',
    sentence: 'The same key and bytes with another query do not get the answer of the first one.',
    source: draft('2.6'),
    level: 'should',
    appliesTo: comparesBytes,
    run: async (check) => {
      const { operation, first } = await perform(check);
      const url = new URL(check.settings.url);
      url.searchParams.set('steadfetch-check', '2');
      const measured = await check.evidence.measure(() =>
        check.api.sendUntilAnswered(operation, { url }),
      );
      return isOwn(check, first, measured);
    },
  },
  {
    id: 'large-body',
    sentence:
      'A large body (64 kB) is done once, and its retry gets the answer; or it is refused whole.',
    source: draft('2.6'),
    level: 'must',
    needs: ['json'],
    run: async (check) => {
      const { api, evidence, declared } = check;
      const operation = api.operation();
      const text = enlarge(operation.text, api.bodyType, 65_536);
      if (text === undefined) return skipped('the body is no JSON object');
      const measured = await evidence.measure(async () => {
        const first = await api.send(operation, { text });
        return [first, await api.sendUntilAnswered(operation, { text })] as const;
      });
      const [first, second] = measured.result;
      if (first.status >= 400 && first.status < 500)
        return holds(
          !measured.effects,
          `refused, and done ${times(measured.effects)}, by the count`,
        );
      if (!isDone(declared, first)) return violated(`it is answered ${describe(first)}`);
      return isDone(declared, second)
        ? evidence.ranTimes(1, measured)
        : violated(`first ${describe(first)}, then ${describe(second)}`);
    },
  },
  {
    id: 'large-body-end',
    sentence: 'A large body that differs only at its end is refused.',
    source: draft('2.4'),
    level: 'must',
    needs: ['json'],
    appliesTo: comparesBytes,
    run: async (check) => {
      const { api } = check;
      const operation = api.operation();
      const text = enlarge(operation.text, api.bodyType, 65_536);
      const variant = variantsOf(operation.text, api.bodyType)[0]?.text;
      const other = variant && enlarge(variant, api.bodyType, 65_536);
      if (text === undefined || other === undefined)
        return skipped('the body has no value to change');
      const first = await api.send(operation, { text });
      requireDone(check, first, 'a large body');
      return refuses(check, { operation, first }, other);
    },
  },
  {
    id: 'chunked-body',
    sentence: 'The same bytes without Content-Length are the same request.',
    source: 'RFC 9112 §7.1',
    level: 'must',
    run: async (check) => {
      const { operation, first } = await perform(check);
      const again = await check.api.sendUntilAnswered(operation, { isChunked: true });
      if (again.status === 411) return skipped('the API requires Content-Length (411)');
      const differs = difference(check, first, again);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'unicode-body',
    sentence: 'An answer with characters outside ASCII is replayed byte by byte.',
    source: draft('2.6'),
    level: 'must',
    needs: ['json'],
    run: async (check) => {
      const { api } = check;
      const operation = api.operation();
      const text = operation.text.replace(
        /"([^"]*)"(?=\s*[,}\]])/,
        (_, value) => `"${value} üñ漢🪁"`,
      );
      if (text === operation.text) return skipped('the body has no text');
      const first = await api.send(operation, { text });
      if (!isDone(check.declared, first))
        return unknown(`such a body is answered ${describe(first)}`);
      const again = await api.sendUntilAnswered(operation, { text });
      return holds(
        isSameContent(check, first, again),
        `first ${describe(first)}, then ${describe(again)}`,
      );
    },
  },
  {
    id: 'empty-body',
    sentence: 'An empty body with a new key is answered, and its retry likewise.',
    source: draft('2.6'),
    level: 'should',
    appliesTo: ({ profile }) => profile.body === undefined,
    run: async (check) => {
      const { api, evidence, declared } = check;
      const operation = api.operation();
      const measured = await evidence.measure(async () => {
        const first = await api.send(operation, { text: '' });
        return [first, await api.sendUntilAnswered(operation, { text: '' })] as const;
      });
      const broken = measured.result.find(({ status }) => status === 0 || status >= 500);
      if (broken) return violated(`it is answered ${describe(broken)}`);
      return isDone(declared, measured.result[0]) ? evidence.ranTimes(1, measured) : met;
    },
  },
];
