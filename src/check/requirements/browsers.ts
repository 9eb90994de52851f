import { describe } from '../api.ts';
import { isDone } from '../dialects.ts';
import { all, type Finding, holds, skipped } from '../finding.ts';
import type { Answer } from '../wire.ts';
import { type Check, perform, replay, type Requirement } from './requirement.ts';

const preflight = (check: Check): Promise<Answer> =>
  check.once('preflight', () => check.api.preflight(requestHeaders(check).join(', ')));

/** The headers of a request that a browser asks about. */
function requestHeaders({ declared, settings }: Check): string[] {
  const own = Object.keys(settings.headers).filter(
    (name) => !['accept', 'cookie', 'origin'].includes(name),
  );
  const { header } = declared.profile;
  return [...(header === undefined ? [] : [header.toLowerCase()]), ...own].toSorted();
}

const listOf = (value: string | undefined): string[] =>
  (value ?? '').split(',').map((one) => one.trim().toLowerCase());

/** Whether a page of the origin can read an answer. */
function isReadable({ settings }: Check, answer: Answer): Finding {
  const allowed = answer.headers['access-control-allow-origin'];
  const isAllowed = allowed === settings.origin || (allowed === '*' && !settings.hasCredentials);
  return holds(
    isAllowed,
    `${describe(answer)} has Access-Control-Allow-Origin: ${allowed ?? 'none'}, so the page sees a network error`,
  );
}

function isExposed({ settings }: Check, answer: Answer, name: string): Finding {
  const exposed = listOf(answer.headers['access-control-expose-headers']);
  const isThere = exposed.includes(name) || (exposed.includes('*') && !settings.hasCredentials);
  return holds(isThere, `Access-Control-Expose-Headers of ${answer.status} lacks ${name}`);
}

/** Requests and answers that a page of another origin must be able to send and to read. */
export const browsers: readonly Requirement[] = [
  {
    id: 'cors-key-allowed',
    sentence: 'A preflight allows the key and the other headers of the request.',
    source: 'Fetch standard, CORS-preflight fetch',
    level: 'must',
    needs: ['origin'],
    run: async (check) => {
      const answer = await preflight(check);
      const allowed = listOf(answer.headers['access-control-allow-headers']);
      const lacking = requestHeaders(check).filter(
        (name) =>
          !allowed.includes(name) &&
          !(allowed.includes('*') && !check.settings.hasCredentials && name !== 'authorization') &&
          name !== 'accept-language',
      );
      return all(
        holds(
          answer.status >= 200 && answer.status < 300,
          `the preflight is answered ${describe(answer)}`,
        ),
        isReadable(check, answer),
        holds(lacking.length === 0, `Access-Control-Allow-Headers lacks ${lacking.join(', ')}`),
      );
    },
  },
  {
    id: 'cors-method-allowed',
    sentence: 'A preflight allows the method.',
    source: 'Fetch standard, CORS-preflight fetch',
    level: 'must',
    needs: ['origin'],
    run: async (check) => {
      const { method } = check.settings;
      const answer = await preflight(check);
      const allowed = listOf(answer.headers['access-control-allow-methods']);
      const isAllowed =
        method === 'POST' || allowed.includes(method.toLowerCase()) || allowed.includes('*');
      return holds(isAllowed, `Access-Control-Allow-Methods lacks ${method}`);
    },
  },
  {
    id: 'cors-answer',
    sentence: 'A page can read the answer, and the replayed one.',
    source: 'Fetch standard, CORS check',
    level: 'must',
    needs: ['origin'],
    run: async (check) => {
      const { first, second } = await replay(check);
      return all(isReadable(check, first), isReadable(check, second));
    },
  },
  {
    id: 'cors-refusal',
    sentence: 'A page can read what refuses its request: other bytes, and no key.',
    source: 'Fetch standard, CORS check',
    level: 'must',
    needs: ['origin'],
    run: async (check) => {
      const { operation } = await perform(check);
      const other = await check.api.sendUntilAnswered(operation, {
        text: check.api.otherText(operation.text),
      });
      const missing = await check.api.send(check.api.operation(), { field: null });
      return all(isReadable(check, other), isReadable(check, missing));
    },
  },
  {
    id: 'cors-retry-after',
    sentence: 'A page can read Retry-After and Date.',
    source: 'Fetch standard, CORS-safelisted response-header name',
    level: 'must',
    needs: ['origin'],
    run: async (check) => {
      const { first } = await replay(check);
      return all(isExposed(check, first, 'retry-after'), isExposed(check, first, 'date'));
    },
  },
  {
    id: 'cors-replay-marker',
    sentence: 'A page can read that an answer is a replayed one, and where the new resource is.',
    source: 'Fetch standard, CORS-safelisted response-header name',
    level: 'should',
    needs: ['origin'],
    run: async (check) => {
      const { second } = await replay(check);
      const names = [
        'idempotent-replayed',
        'idempotency-replayed',
        'location',
        check.declared.replayHeader,
      ];
      const there = names.filter(
        (name) => name !== undefined && second.headers[name] !== undefined,
      );
      if (there.length === 0) return skipped('the answer has neither');
      return all(...there.map((name) => isExposed(check, second, name ?? '')));
    },
  },
  {
    id: 'cors-credentials',
    sentence: 'A page can send cookies: the answer allows credentials, for its own origin.',
    source: 'Fetch standard, CORS check',
    level: 'must',
    needs: ['origin', 'credentials'],
    run: async (check) => {
      const { first } = await replay(check);
      const answers = [await preflight(check), first].filter(
        (answer) => isDone(check.declared, answer) || answer.status === 204,
      );
      return all(
        ...answers.map((answer) =>
          holds(
            answer.headers['access-control-allow-credentials'] === 'true',
            `${describe(answer)} lacks Access-Control-Allow-Credentials: true`,
          ),
        ),
      );
    },
  },
];
