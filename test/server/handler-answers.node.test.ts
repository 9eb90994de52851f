import { idempotent, memoryStore } from 'steadfetch/server';
import { expect, onTestFinished, test, vi } from 'vitest';

const post = (): Request =>
  new Request('http://shop.example/orders', {
    method: 'POST',
    body: '{}',
    headers: { 'idempotency-key': '"a"' },
  });

const wrap = (answer: () => unknown, isFinal?: () => Promise<boolean>) =>
  idempotent(answer as () => Response, {
    store: memoryStore(),
    scope: () => 'u',
    ...(isFinal && { isFinal }),
  });

const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

/** An answer whose body fails: at once, or while its status is looked at. */
const failing = (when: 'at once' | 'later'): Response => {
  const body = new ReadableStream({
    start(controller) {
      if (when === 'at once') controller.error(new Error('cut'));
      else setImmediate(() => controller.error(new Error('cut')));
    },
  });
  return new Response(body, { status: 201 });
};

test.each<['at once' | 'later', 'read' | 'not read']>([
  ['at once', 'read'],
  ['at once', 'not read'],
  ['later', 'read'],
  ['later', 'not read'],
])(
  'an answer whose stream fails %s, and whose status is %s, fails its request, and no more',
  async (when, how) => {
    const unhandled = vi.fn<(error: unknown) => void>();
    process.on('unhandledRejection', unhandled);
    onTestFinished(() => void process.off('unhandledRejection', unhandled));
    const isFinal = async (): Promise<boolean> => {
      await turn();
      await turn();
      return true;
    };
    const handler = wrap(() => failing(when), how === 'read' ? isFinal : undefined);
    await expect(handler(post())).rejects.toThrow('cut');
    await turn();
    await turn();
    expect(unhandled).not.toHaveBeenCalled();
  },
);

test.each<[string, unknown]>([
  ['undefined', undefined],
  ['null', null],
  ['{"id":1}', { id: 1 }],
  ["'done'", 'done'],
])('a handler that returns %s is told what it must return', async (shown, answer) => {
  await expect(wrap(() => answer)(post())).rejects.toThrow(
    new TypeError(`idempotent: the answer of the handler is ${shown}, and must be a Response.`),
  );
});
