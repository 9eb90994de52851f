import * as own from 'steadfetch';
import { afterEach, expect, test } from 'vitest';

afterEach(() => document.body.replaceChildren());

/** A window of the same origin that loads the package for itself: its classes are not ours. */
async function loadElsewhere(): Promise<typeof own> {
  const frame = document.createElement('iframe');
  const loaded = new Promise<typeof own>((resolve) => {
    Object.assign(globalThis, { receive: resolve });
  });
  const source = new URL('/src/index.ts', location.href).href;
  frame.srcdoc = `<script type="module">
    import * as copy from '${source}';
    parent.receive(copy);
  </script>`;
  document.body.append(frame);
  return loaded;
}

test('the guards know the errors of another window, whose classes are others', async () => {
  const copy = await loadElsewhere();
  const steady = copy.createSteadfetch({
    fetch: async () => new Response(null, { status: 503 }),
  });
  const error: unknown = await steady.fetch('/').catch((thrown: unknown) => thrown);
  expect(error).not.toBeInstanceOf(Error);
  expect(error).not.toBeInstanceOf(own.SteadfetchError);
  expect(own.isSteadfetchError(error)).toBe(true);
  expect(own.isHttpError(error)).toBe(true);
  expect(own.isNetworkError(error)).toBe(false);
  expect(own.isTimeoutError(error)).toBe(false);
});

test('the guards say no to a plain Error of another window', async () => {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  const there = frame.contentWindow as Window & typeof globalThis;
  const error = new there.Error('not ours');
  expect(error).not.toBeInstanceOf(Error);
  expect(own.isSteadfetchError(error)).toBe(false);
});
