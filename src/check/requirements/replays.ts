import { describe } from '../api.ts';
import { all, type Finding, holds, met, skipped, violated, times } from '../finding.ts';
import { isDone } from '../dialects.ts';
import {
  declaredBy,
  difference,
  isSameContent,
  draft,
  perform,
  type Check,
  replay,
  type Requirement,
  requireDone,
} from './requirement.ts';

async function sendAgainWith(
  check: Check,
  headers: Readonly<Record<string, string>>,
): Promise<Finding> {
  const { operation, first } = await replay(check);
  const again = await check.api.sendUntilAnswered(operation, { headers });
  const differs = difference(check, first, again);
  return differs === undefined ? met : violated(differs);
}

/** The header of a replay that says so: the declared one, or one that is in use. */
function markOf(
  { declared }: Check,
  headers: Readonly<Record<string, string>>,
): string | undefined {
  const names = declared.replayHeader
    ? [declared.replayHeader]
    : ['idempotent-replayed', 'idempotency-replayed'];
  return names.map((name) => headers[name]).find((value) => value !== undefined);
}

/** The same key and bytes: the same answer, and done once. */
export const replays: readonly Requirement[] = [
  {
    id: 'replay-once',
    sentence: 'A request that is sent again with its key is done once.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { measured, second } = await replay(check);
      const finding = check.evidence.ranTimes(1, measured);
      // The server itself may say that it has not run again.
      return finding.kind === 'unknown' && markOf(check, second.headers) === 'true' ? met : finding;
    },
  },
  {
    id: 'replay-status',
    sentence: 'A retry gets the status of the first answer.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { first, second } = await replay(check);
      const seen = `first ${describe(first)}, then ${describe(second)}`;
      return holds(first.status === second.status, seen);
    },
  },
  {
    id: 'replay-body',
    sentence: 'A retry gets the body of the first answer, byte by byte.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { first, second } = await replay(check);
      if (!isDone(check.declared, second)) return skipped('the replay has another status');
      return holds(
        isSameContent(check, first, second),
        `first ${describe(first)}, then ${describe(second)} (--ignore names fields that may differ)`,
      );
    },
  },
  {
    id: 'replay-content-type',
    sentence: 'A retry gets the Content-Type of the first answer.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { first, second } = await replay(check);
      if (!isDone(check.declared, second)) return skipped('the replay has another status');
      const [one, other] = [first, second].map(({ headers }) => headers['content-type'] ?? 'none');
      return holds(one === other, `first ${one}, then ${other}`);
    },
  },
  {
    id: 'replay-location',
    sentence: 'A retry gets the Location, ETag, Link and Content-Language of the first answer.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { first, second } = await replay(check);
      if (!isDone(check.declared, second)) return skipped('the replay has another status');
      const names = ['location', 'etag', 'link', 'content-language', 'content-location'];
      const lost = names.filter((name) => first.headers[name] !== second.headers[name]);
      if (names.every((name) => first.headers[name] === undefined))
        return skipped('the answer has none of them');
      return holds(
        lost.length === 0,
        lost
          .map((name) => `${name}: ${first.headers[name]}, then ${second.headers[name] ?? 'none'}`)
          .join('; '),
      );
    },
  },
  {
    id: 'replay-repeatable',
    sentence: 'Every later request with the key gets that answer, not only the second one.',
    source: draft('2.6'),
    level: 'must',
    run: async (check) => {
      const { second, third } = await replay(check);
      const differs = difference(check, second, third);
      return holds(differs === undefined, `the second and the third differ: ${differs}`);
    },
  },
  {
    id: 'replay-marked',
    sentence: 'A replayed answer has the header that the API declares for it.',
    source: declaredBy,
    level: 'must',
    appliesTo: ({ replayHeader }) => replayHeader !== undefined,
    run: async (check) => {
      const { second } = await replay(check);
      const value = markOf(check, second.headers);
      return holds(
        value === 'true',
        `${check.declared.replayHeader} is ${value ?? 'missing'}, and should be true`,
      );
    },
  },
  {
    id: 'first-not-marked',
    sentence: 'A first answer is not marked as a replayed one.',
    source: declaredBy,
    level: 'must',
    run: async (check) => {
      const { first } = await replay(check);
      const value = markOf(check, first.headers);
      return holds(value !== 'true', 'the answer to a new key says that it is a replayed one');
    },
  },
  {
    id: 'replay-no-cookie',
    sentence: 'A replayed answer sets no cookie of the first one again.',
    source: 'docs/server/rules.md (a session that has ended since must not come back)',
    level: 'should',
    run: async (check) => {
      const { first, second } = await replay(check);
      const cookie = first.headers['set-cookie'];
      if (cookie === undefined) return skipped('the first answer sets no cookie');
      return holds(second.headers['set-cookie'] !== cookie, 'Set-Cookie is sent again');
    },
  },
  {
    id: 'replay-other-headers',
    sentence:
      'A retry is recognised though its User-Agent, trace, date and attempt headers differ.',
    source: draft('2.4, the fingerprint is of the payload'),
    level: 'must',
    run: (check) =>
      sendAgainWith(check, {
        'user-agent': 'steadfetch-check/2',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        date: 'Tue, 01 Dec 2026 08:00:00 GMT',
        'x-request-id': 'steadfetch-check-2',
      }),
  },
  {
    id: 'replay-encoding',
    sentence: 'A client that accepts no compression gets none, also where the first one did.',
    source: 'RFC 9110 §12.5.3',
    level: 'should',
    run: async (check) => {
      const operation = check.api.operation();
      const zipped = { headers: { 'accept-encoding': 'gzip' } };
      const first = await check.api.send(operation, zipped);
      requireDone(check, first, 'a first request');
      const again = await check.api.sendUntilAnswered(operation, {
        headers: { 'accept-encoding': 'identity' },
      });
      const encoding = again.headers['content-encoding'];
      return holds(
        encoding === undefined || encoding === 'identity',
        `Content-Encoding: ${encoding} for Accept-Encoding: identity`,
      );
    },
  },
  {
    id: 'renewed-credentials',
    sentence: 'A retry is recognised after the user’s token has been renewed.',
    source: 'docs/server.md (a token as scope)',
    level: 'must',
    needs: ['renewed'],
    run: async (check) => {
      const { operation, first } = await perform(check);
      const user = check.settings.renewed ?? {};
      const again = await check.api.sendUntilAnswered(operation, { user });
      const differs = difference(check, first, again);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'new-key-runs',
    sentence: 'The same bytes with another key are another operation.',
    source: draft('2.2'),
    level: 'must',
    run: async (check) => {
      const { api, evidence } = check;
      const { operation, first } = await replay(check);
      const again = { ...operation, key: api.newKey() };
      const { result, effects } = await evidence.measure(() => api.send(again));
      if (!isDone(check.declared, result))
        return skipped('the API refuses the same bytes a second time, whatever the key');
      return all(
        holds(effects === undefined || effects === 1, `done ${times(effects)}, by the count`),
        holds(
          !evidence.canTell || !evidence.isSameOperation(first, result),
          `both keys get the same answer: ${describe(result)}`,
        ),
        holds(markOf(check, result.headers) !== 'true', 'a new key gets a replayed answer'),
      );
    },
  },
];
