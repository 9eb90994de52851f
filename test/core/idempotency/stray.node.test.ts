import { type ApiProfile, createSteadfetch, profiles, type SteadyInit } from 'steadfetch';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { submissionExtension as submissionCode } from '../../../src/core/fetch/keys.ts';
import { type PastStep, Submission } from '../../../src/core/operation/parts/submission.ts';
import { instanceOfSteady } from '../../../src/core/react-query/instance.ts';
import { noOrigin } from '../../setup/no-origin.ts';
import { answer, fakeServer, origin } from '../fetch/fake-server.ts';
import { observe, rejectionOf, settled } from '../fetch/observe.ts';

let warnings: string[];
beforeEach(() => {
  vi.useFakeTimers();
  warnings = [];
  vi.spyOn(console, 'warn').mockImplementation((text: string) => void warnings.push(text));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const draft: ApiProfile = { match: origin, idempotency: profiles.draft };
const key = '8e03978e-40d5-43dd-bc93-6894a57f9324';

/** A submission that is stored when the test says so, or at once. */
class StoredSubmission extends Submission {
  readonly #storing: Promise<void> | undefined;
  constructor(past: readonly PastStep[], storing: Promise<void> | undefined) {
    super({ key, createdAt: Date.now(), past });
    this.#storing = storing;
  }
  override stored(): Promise<void> | undefined {
    return this.#storing;
  }
}

interface Running {
  readonly isIdle?: boolean;
  readonly past?: readonly PastStep[];
  readonly storing?: Promise<void>;
}

/** An instance, and mutations whose mutationFn is running. */
function open(...running: readonly Running[]) {
  const server = fakeServer(answer(201));
  const steady = createSteadfetch({ ...noOrigin, fetch: server.fetch, apis: [draft] });
  const { operations } = instanceOfSteady(steady, 'open');
  const submissions = running.map(({ isIdle = true, past = [], storing }) => {
    const submission = new StoredSubmission(past, storing);
    const operation = operations.begin('mutation', { submissionCode, submission });
    operations.executions.add({ submission, operation, isIdle: () => isIdle });
    return submission;
  });
  return { server, steady, operations, submissions };
}

const post: SteadyInit = { method: 'POST', body: '{}' };

test('a POST of the instance without a key may be of each mutation that runs and sends nothing, and development is told', async () => {
  const { steady, server, submissions } = open({}, { isIdle: false }, {});
  await steady.fetch(`${origin}/orders?secret#here`, post);
  expect(submissions.map(({ isUnkeyed }) => isUnkeyed)).toEqual([true, false, true]);
  expect(server.requests.map(({ headers }) => headers.get('idempotency-key'))).toEqual([null]);
  expect(warnings).toEqual([
    `[steadfetch] POST ${origin}/orders was sent by the instance while a mutationFn ran, and without an idempotency key. ` +
      `If it is part of that mutation, send it with the fetch or json of the mutationFn's context, also after an await: ` +
      `only these give it the key that makes it safe to send again. Another client is given its rawFetch as fetch, or is ` +
      `linked where it is made: linkClient(steady, client). See node_modules/steadfetch/docs/clients.md.`,
  ]);
  await steady.fetch(`${origin}/orders`, post);
  expect(warnings).toHaveLength(1);
  await steady.fetch(`${origin}/mails`, post);
  expect(warnings).toHaveLength(2);
});

test.each<[string, SteadyInit]>([
  ['reads', {}],
  ['is idempotent by its method', { method: 'PUT' }],
  ['is declared idempotent', { ...post, idempotent: true }],
  ['has a key of its own', { ...post, idempotencyKey: 'k' }],
])('a request that %s is no part of a mutation that runs', async (_, init) => {
  const { steady, submissions } = open({});
  await steady.fetch(origin, init);
  expect(submissions.map(({ isUnkeyed }) => isUnkeyed)).toEqual([false]);
  expect(warnings).toEqual([]);
});

test('nor is the keyless POST of another mutation', async () => {
  const { steady, operations, submissions } = open({});
  const operation = operations.begin('mutation');
  await operations.run(operation, () => steady.fetch(origin, post), [], {});
  expect(submissions.map(({ isUnkeyed }) => isUnkeyed)).toEqual([false]);
});

test('it waits until that is stored with each of them', async () => {
  let fail: (error: Error) => void = () => {};
  const storing = new Promise<void>((_, reject) => (fail = reject));
  const { steady, server } = open({ storing: Promise.resolve() }, { storing }, {});
  const sent = observe(steady.fetch(origin, post));
  await settled();
  expect(server.requests).toEqual([]);
  // It could not be stored: the page still knows.
  fail(new Error('The disk is full.'));
  await settled();
  expect(sent.state).toBe('resolved');
  expect(await server.requests[0]?.text()).toBe('{}');
});

test('where nothing is to be stored it is sent at once', () => {
  const { steady, server } = open({});
  void steady.fetch(origin, post);
  expect(server.requests).toHaveLength(1);
});

test('what such a mutation may have done with a key is not sent without one', async () => {
  const target = `POST ${origin}/orders`;
  const { steady, server, submissions } = open({ past: [{ id: '', target, key, sentAt: 1 }] });
  const send = (): Promise<unknown> => rejectionOf(steady.fetch(`${origin}/orders`, post));
  const message = `${target}: not sent without the idempotency key with which it may have been done.`;
  const remedy =
    ' Send it with the fetch or json of the context of its mutationFn, also after an await.';
  expect(await send()).toEqual(new TypeError(message + remedy));
  vi.stubEnv('NODE_ENV', 'production');
  expect(await send()).toEqual(new TypeError(message));
  expect(server.requests).toEqual([]);
  expect(submissions.map(({ isUnkeyed, isChanged }) => ({ isUnkeyed, isChanged }))).toEqual([
    { isUnkeyed: false, isChanged: true },
  ]);
});
