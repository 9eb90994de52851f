import { useMutation } from '@tanstack/react-query';
import { fireEvent } from '@testing-library/react';
import { mutationOptions, profiles } from 'steadfetch';
import { SteadfetchDevtools } from 'steadfetch/devtools';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { expect, onTestFinished, test } from 'vitest';
import { createRig, type Rig } from '../core/react-query/rig.tsx';
import { devtools, openTab, press } from './rig.tsx';

const withKeys = { apis: [{ match: '/', idempotency: profiles.draft }] };

/** A page with an outbox that keeps its entries in memory, as jsdom has no database. */
function createPage(rig: Rig) {
  const note = outboxHandler({
    mutationFn: (text: string, { json }) => json('/notes', { method: 'POST', json: text }),
  });
  const outbox = createOutbox({ steady: rig.steady, queryClient: rig.client, handlers: { note } });
  onTestFinished(() => outbox.dispose());
  return outbox;
}

const entry = (): string =>
  devtools()
    .getByRole('listitem', { name: /^note / })
    .textContent.replace(/[\da-f]{8}-[\da-f-]{27}/, 'KEY');

test('a dead letter says why it is one, what is known of its outcome, and where it is kept', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/notes', 422, { body: 1 });
  const outbox = createPage(rig);
  rig.show(<SteadfetchDevtools />);
  outbox.submit('note', 'A note').delivered.catch(() => {});
  await rig.time.advance(1000);
  openTab('Mutations');
  await rig.time.advance(1000);
  expect(entry()).toBe(
    'Dead letternote1 attemptSend againEditDiscardThe server refused it. The server answered 422.' +
      'At the serverNot doneKeptIn this page onlyIdempotency keyKEY"A note"',
  );
});

test('a dead letter is sent again, or all of them at once', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/notes', 422, 422, 422, { body: 1 }, { body: 2 });
  const outbox = createPage(rig);
  rig.show(<SteadfetchDevtools />);
  for (const text of ['A note', 'Another']) outbox.submit('note', text).delivered.catch(() => {});
  await rig.time.advance(1000);
  openTab('Mutations');
  await rig.time.advance(1000);
  expect(rig.server.sent).toHaveLength(2);
  press(devtools().getAllByRole('button', { name: 'Send again' })[0] as HTMLElement);
  await rig.time.advance(1000);
  expect(rig.server.sent.map(({ body }) => body)).toEqual(['"A note"', '"Another"', '"A note"']);
  press(devtools().getByRole('button', { name: 'Send all dead letters' }));
  await rig.time.advance(1000);
  expect(rig.server.sent).toHaveLength(5);
  expect(outbox.getState()).toMatchObject({ dead: 0, due: 0, waiting: 0 });
});

test('what waits is sent now', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/notes', 503, { body: 1 });
  const outbox = createPage(rig);
  rig.show(<SteadfetchDevtools />);
  outbox.submit('note', 'A note').delivered.catch(() => {});
  await rig.time.advance(100);
  openTab('Mutations');
  await rig.time.settle();
  expect(entry()).toMatch(/^To be sent/);
  press(devtools().getByRole('button', { name: 'Send now' }));
  await rig.time.advance(10);
  expect(rig.server.times('/notes')).toEqual([0, 100]);
});

test('Keep and Do not edit change nothing', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/notes', 422);
  const outbox = createPage(rig);
  rig.show(<SteadfetchDevtools />);
  outbox.submit('note', 'A note').delivered.catch(() => {});
  await rig.time.advance(1000);
  openTab('Mutations');
  await rig.time.advance(1000);
  const before = entry();
  for (const name of ['Discard', 'Keep', 'Edit', 'Do not edit'])
    press(devtools().getByRole('button', { name }));
  await rig.time.advance(1000);
  expect(entry()).toBe(before);
  expect(rig.server.sent).toHaveLength(1);
});

test('it is edited, and sent with other variables', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/notes', 422, { body: 1 });
  const outbox = createPage(rig);
  rig.show(<SteadfetchDevtools />);
  outbox.submit('note', 'A note').delivered.catch(() => {});
  await rig.time.advance(1000);
  openTab('Mutations');
  await rig.time.advance(1000);
  press(devtools().getByRole('button', { name: 'Edit' }));
  const text = devtools().getByLabelText('Variables, as JSON');
  fireEvent.change(text, { target: { value: '{' } });
  expect(devtools().getByText('This is not JSON.')).toBeDefined();
  expect(devtools().getByRole('button', { name: 'Send' }).ariaDisabled).toBe('true');
  fireEvent.change(text, { target: { value: '"Another"' } });
  press(devtools().getByRole('button', { name: 'Send' }));
  await rig.time.advance(1000);
  expect(rig.server.sent.map(({ body }) => body)).toEqual(['"A note"', '"Another"']);
});

test('it is discarded, once that is confirmed', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/notes', 422);
  const outbox = createPage(rig);
  rig.show(<SteadfetchDevtools />);
  outbox.submit('note', 'A note').delivered.catch(() => {});
  await rig.time.advance(1000);
  openTab('Mutations');
  await rig.time.advance(1000);
  press(devtools().getByRole('button', { name: 'Discard' }));
  expect(await outbox.list()).toHaveLength(1);
  press(devtools().getByRole('button', { name: 'Discard for good' }));
  await rig.time.advance(1000);
  expect(await outbox.list()).toHaveLength(0);
  expect(devtools().getByText('The outbox is empty')).toBeDefined();
});

test('a mutation shows its key, and whether it may have been done', async () => {
  const rig = createRig(withKeys);
  rig.server.plan('/orders', 'network', 'network', 'network', 'network');
  const order = mutationOptions(rig.steady, {
    mutationKey: ['order'],
    mutationFn: (sku: string, { json }) => json('/orders', { method: 'POST', json: sku }),
  });
  function Order() {
    const { mutate } = useMutation(order);
    return <button onClick={() => mutate('kite')}>Order</button>;
  }
  const { getByText } = rig.show(
    <>
      <Order />
      <SteadfetchDevtools />
    </>,
  );
  openTab('Mutations');
  expect(devtools().getByText('No mutation yet')).toBeDefined();
  press(getByText('Order'));
  await rig.time.advance(100);
  const row = (): string =>
    devtools()
      .getByRole('row', { name: /order/ })
      .textContent.replace(/[\da-f]{8}-[\da-f-]{27}/, 'KEY');
  expect(row()).toBe(
    '["order"]Waiting attempt 1 of 4: no answer came, next attempt in 1 sMay have been doneKEY',
  );
  await rig.time.advance(60_000);
  expect(row()).toMatch(/^\["order"\]Unknown outcome .*May have been doneKEY$/);
});
