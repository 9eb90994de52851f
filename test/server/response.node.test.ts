import { idempotent, memoryStore } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import { copyAnswer } from '../../src/server/response.ts';
import { createLatch, createMemoryRig, createShop, post } from './rig.ts';

describe('a problem', () => {
  test('says what is wrong, and where to read about it', async () => {
    const documentationUrl = 'https://shop.example/docs/keys';
    const shop = createShop(createMemoryRig(), { documentationUrl });
    const answer = await shop.send(post({ key: '<script>' }));
    expect(answer.headers.get('link')).toBe(`<${documentationUrl}>; rel="describedby"`);
    expect(await answer.json()).toEqual({
      type: documentationUrl,
      title: 'Bad Request',
      status: 400,
      detail:
        'Idempotency-Key: The idempotency key is malformed. It must be a key in quotes ("8e03978e"), of 1 to 255 characters.',
      code: 'key-malformed',
    });
  });

  test('of a request whose first attempt runs says so', async () => {
    const started = createLatch();
    const { open, opened } = createLatch();
    const shop = createShop(createMemoryRig(), { header: 'Order-Key' }, async () => {
      started.open();
      await opened;
      return new Response();
    });
    const send = () => shop.send(post({ headers: { 'order-key': '"a"' } }));
    const first = send();
    await started.opened;
    expect(await (await send()).json()).toEqual({
      type: 'about:blank',
      title: 'Conflict',
      status: 409,
      detail: 'Order-Key: A request with this idempotency key is still being processed.',
      code: 'in-progress',
    });
    open();
    await first;
  });

  test('of a request of which a part was done says so, and that it is not run again', async () => {
    const send = idempotent(
      (_request, { tx }) => {
        tx.onCommit(() => {});
        tx.onCommit(() => {
          throw new Error('disk');
        });
        return new Response();
      },
      { store: memoryStore(), onStoreError: () => {} },
    );
    await send(post({ key: '"a"' }));
    const answer = await send(post({ key: '"a"' }));
    expect([answer.status, ...answer.headers]).toEqual([
      500,
      ['content-type', 'application/problem+json'],
      ['idempotent-replayed', 'true'],
    ]);
    expect(await answer.json()).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: 'A part of this request was done, and a part of it has failed. It is not run again.',
      code: 'partly-done',
    });
  });

  test('has no type and no link where there is no page', async () => {
    const answer = await createShop(createMemoryRig()).send(post());
    expect(answer.headers.has('link')).toBe(false);
    expect(answer.headers.has('retry-after')).toBe(false);
    expect(await answer.json()).toMatchObject({ type: 'about:blank' });
  });
});

test.each<[string, () => BodyInit | null]>([
  ['a body without an end', () => new ReadableStream({})],
  ['no body', () => null],
])(
  'the copy of an answer with %s is none once it is aborted, before or meanwhile',
  async (...row) => {
    const [, body] = row;
    const reason = new Error('the lease is over');
    await expect(copyAnswer(new Response(body()), AbortSignal.abort(reason))).rejects.toBe(reason);
    const controller = new AbortController();
    const copying = copyAnswer(new Response(body()), controller.signal);
    controller.abort(reason);
    await expect(copying).rejects.toBe(reason);
  },
);
