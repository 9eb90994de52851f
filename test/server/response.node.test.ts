import { describe, expect, test } from 'vitest';
import { createShop, post, stores } from './rig.ts';

const [, createMemory] = stores[0] as (typeof stores)[number];

describe('a problem', () => {
  test('says what is wrong, and where to read about it', async () => {
    const documentationUrl = 'https://shop.example/docs/keys';
    const shop = createShop(createMemory(), { documentationUrl });
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

  test('has no type and no link where there is no page', async () => {
    const answer = await createShop(createMemory()).send(post());
    expect(answer.headers.has('link')).toBe(false);
    expect(answer.headers.has('retry-after')).toBe(false);
    expect(await answer.json()).toMatchObject({ type: 'about:blank' });
  });
});
