import { type Change, describe } from '../api.ts';
import { isDone, isMismatch } from '../dialects.ts';
import type { Measured } from '../evidence.ts';
import { all, type Finding, holds, skipped, unknown, violated, times } from '../finding.ts';
import type { Answer } from '../wire.ts';
import {
  type Check,
  type Done,
  difference,
  draft,
  isOwn,
  perform,
  type Requirement,
} from './requirement.ts';

interface OfOthers extends Done {
  readonly other: Answer;
  readonly measured: Measured<Answer>;
  readonly after: Answer;
}

/** An operation of one user, then the same key and bytes from another one, then the first one's again. */
const ofOthers = (check: Check): Promise<OfOthers> =>
  check.once('other-user', async () => {
    const { api, evidence, settings } = check;
    const { operation, first } = await perform(check);
    const user = settings.secondUser ?? {};
    const measured = await evidence.measure(() => api.sendUntilAnswered(operation, { user }));
    return {
      operation,
      first,
      other: measured.result,
      measured,
      after: await api.sendUntilAnswered(operation),
    };
  });

const credentials = ['authorization', 'cookie', 'x-api-key'];

/** Headers that undo the credentials. */
function withoutCredentials({ settings }: Check): Readonly<Record<string, string>> | undefined {
  const names = credentials.filter((name) => settings.headers[name] !== undefined);
  // A header cannot be removed once it is there, and an empty one is no credential.
  return names.length === 0 ? undefined : Object.fromEntries(names.map((name) => [name, '']));
}

/** A done operation, then its key and bytes from elsewhere. */
async function isOwnWith(check: Check, change: Change): Promise<Finding> {
  const { operation, first } = await perform(check);
  const measured = await check.evidence.measure(() =>
    check.api.sendUntilAnswered(operation, change),
  );
  return isOwn(check, first, measured);
}

/** The same key from another user, on another path, with another method. */
export const scopes: readonly Requirement[] = [
  {
    id: 'other-user-own',
    sentence: 'Another user with the same key and bytes does not get the answer of the first one.',
    source: draft('6, data leaks'),
    level: 'must',
    needs: ['second-user'],
    run: async (check) => {
      const { first, measured } = await ofOthers(check);
      return isOwn(check, first, measured);
    },
  },
  {
    id: 'other-user-runs',
    sentence: 'The operation of another user with the same key is done.',
    source: draft('6, a composite key'),
    level: 'must',
    needs: ['second-user'],
    run: async (check) => {
      const { other, measured } = await ofOthers(check);
      if (other.status === 401 || other.status === 403)
        return unknown(`the credentials of --second-user are answered ${describe(other)}`);
      return all(
        holds(isDone(check.declared, other), `it is answered ${describe(other)}`),
        holds(
          measured.effects === undefined || measured.effects === 1,
          `done ${times(measured.effects)}, by the count`,
        ),
      );
    },
  },
  {
    id: 'other-user-bytes',
    sentence: 'Another user with the same key and other bytes is not refused for them.',
    source: draft('6, a composite key'),
    level: 'must',
    needs: ['second-user'],
    run: async (check) => {
      const { operation } = await perform(check);
      const text = check.api.otherText(operation.text);
      const answer = await check.api.sendUntilAnswered(operation, {
        text,
        user: check.settings.secondUser ?? {},
      });
      return holds(
        isDone(check.declared, answer) || !isMismatch(check.declared, answer),
        `it is answered ${describe(answer)}: the key of one user is known to another`,
      );
    },
  },
  {
    id: 'other-user-keeps-first',
    sentence: 'Afterwards the first user still gets the first answer.',
    source: draft('2.6'),
    level: 'must',
    needs: ['second-user'],
    run: async (check) => {
      const { first, after } = await ofOthers(check);
      const differs = difference(check, first, after);
      return holds(differs === undefined, differs ?? '');
    },
  },
  {
    id: 'no-credentials',
    sentence: 'A request without credentials does not get a stored answer.',
    source: draft('6, data leaks'),
    level: 'must',
    run: async (check) => {
      const user = withoutCredentials(check);
      if (!user) return skipped('no credentials are given with --header');
      const { operation, first } = await perform(check);
      const answer = await check.api.sendUntilAnswered(operation, { user });
      if (!isDone(check.declared, answer))
        return holds(answer.text !== first.text, 'it gets the body of the answer');
      return violated(`it is answered ${describe(answer)}`);
    },
  },
  {
    id: 'unauthorized-not-stored',
    sentence: 'A 401 is not stored: the same request with credentials is done.',
    source: 'docs/server/rules.md (final answers)',
    level: 'must',
    run: async (check) => {
      const user = withoutCredentials(check);
      if (!user) return skipped('no credentials are given with --header');
      const operation = check.api.operation();
      const refused = await check.api.send(operation, { user });
      if (isDone(check.declared, refused)) return skipped('the API needs no credentials');
      const answer = await check.api.sendUntilAnswered(operation);
      return holds(isDone(check.declared, answer), `it is answered ${describe(answer)}`);
    },
  },
  {
    id: 'other-path',
    sentence: 'The same key and bytes at another path do not get the answer of the first one.',
    source: draft('2.6'),
    level: 'must',
    needs: ['other-url'],
    run: async (check) => {
      const { otherUrl } = check.settings;
      return isOwnWith(check, otherUrl ? { url: otherUrl } : {});
    },
  },
  {
    id: 'other-method',
    sentence: 'The same key and bytes with another method do not get the answer of the first one.',
    source: draft('2.6'),
    level: 'must',
    needs: ['other-method'],
    run: async (check) => {
      const { otherMethod } = check.settings;
      return isOwnWith(check, otherMethod ? { method: otherMethod } : {});
    },
  },
];
