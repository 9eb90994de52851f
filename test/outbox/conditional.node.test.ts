import { conditionalWrites } from 'steadfetch';
import { outboxHandler } from 'steadfetch/outbox';
import { describe, expect, test } from 'vitest';
import { createBrowser, settle } from './rig.ts';

const note = outboxHandler({
  mutationFn: (text: string, { fetch }) =>
    fetch('https://notes.example/1', {
      method: 'PATCH',
      body: JSON.stringify(text),
      headers: { 'if-match': '"1"' },
    }).then(({ status }) => status),
});

const apisWhere = (isOurs: boolean | undefined) => [
  {
    match: 'https://notes.example',
    conditional: conditionalWrites(isOurs === undefined ? {} : { wasOurs: () => isOurs }),
  },
];

/** The first attempt is done, and its answer is lost; the server refuses what comes later. */
async function deliver(isOurs: boolean | undefined, isCrashed: boolean) {
  const { openTab, server, pass } = createBrowser();
  server.rule = (arrival, count) => (count === 1 ? arrival.cut() : arrival.answer(412));
  const apis = apisWhere(isOurs);
  const first = openTab({ handlers: { note }, apis });
  const delivered = first.outbox.submit('note', 'b').delivered.then(
    (status) => status,
    () => 'dead',
  );
  await settle();
  if (isCrashed) first.crash();
  const { outbox } = isCrashed ? openTab({ handlers: { note }, apis }) : first;
  await pass(20_000);
  return {
    ...(!isCrashed && { delivered: await delivered }),
    sent: server.arrivals.map(({ body, key }) => [body, key]),
    left: (await outbox.list()).map(({ state, processed }) => [state, processed]),
  };
}

const twice = [
  ['"b"', null],
  ['"b"', null],
];

describe.each([
  ['goes on', false],
  ['dies', true],
])(
  'a conditional write of the outbox whose answer is lost goes once more, where its page %s',
  (_, isCrashed) => {
    test('and is done where it is found to have won', async () => {
      expect(await deliver(true, isCrashed)).toEqual({
        ...(!isCrashed && { delivered: 204 }),
        sent: twice,
        left: isCrashed ? [['done', 'yes']] : [],
      });
    });

    test('and is a dead letter where another one has won', async () => {
      expect(await deliver(false, isCrashed)).toEqual({
        ...(!isCrashed && { delivered: 'dead' }),
        sent: twice,
        left: [['dead', 'unknown']],
      });
    });

    test('and is a dead letter of an unknown outcome where nobody looks', async () => {
      expect(await deliver(undefined, isCrashed)).toEqual({
        ...(!isCrashed && { delivered: 'dead' }),
        sent: twice,
        left: [['dead', 'unknown']],
      });
    });
  },
);
