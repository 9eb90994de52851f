import { describe, expect, test } from 'vitest';
import { createMemoryRig, createShop, post } from './rig.ts';

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

  test('has no type and no link where there is no page', async () => {
    const answer = await createShop(createMemoryRig()).send(post());
    expect(answer.headers.has('link')).toBe(false);
    expect(answer.headers.has('retry-after')).toBe(false);
    expect(await answer.json()).toMatchObject({ type: 'about:blank' });
  });
});
