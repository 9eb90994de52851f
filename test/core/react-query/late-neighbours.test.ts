import { QueryObserver } from '@tanstack/react-query';
import { describe, expect, test } from 'vitest';
import { createRig } from './rig.tsx';

/** How a request is answered: after this time, or with an error then. */
interface Answer {
  readonly afterMs: number;
  readonly status?: number;
}

/** A browser with six connections to a server, first come, first served. */
function openHttp1(answerTo: (path: string) => Answer) {
  const waiting = new Set<() => void>();
  let free = 6;
  const advance = (): void => {
    for (const open of waiting) {
      if (free === 0) return;
      waiting.delete(open);
      free--;
      open();
    }
  };
  return (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const { pathname } = new URL(input as string);
    const { afterMs, status = 200 } = answerTo(pathname);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const close = (): void => {
      free++;
      advance();
    };
    return new Promise((resolve, reject) => {
      const open = (): void => {
        timer = setTimeout(() => {
          timer = undefined;
          close();
          resolve(Response.json(pathname, { status }));
        }, afterMs);
      };
      init?.signal?.addEventListener('abort', () => {
        if (!waiting.delete(open) && timer) close();
        clearTimeout(timer);
        timer = undefined;
        reject(init.signal?.reason as Error);
      });
      waiting.add(open);
      advance();
    });
  };
}

/** A page that shows slow things, and one healthy thing more each second. @returns when each had its data, since it was shown. */
async function showBeside(slow: readonly string[], answerToSlow: () => Answer) {
  const healthy = Array.from({ length: 90 }, (_, second) => `/healthy/${second}`);
  const server = openHttp1((path) => (healthy.includes(path) ? { afterMs: 50 } : answerToSlow()));
  const rig = createRig({ health: {}, fetch: server });
  const ends = new Map<string, number>();
  const show = (path: string): void => {
    const at = rig.elapsed();
    new QueryObserver(rig.client, {
      queryKey: [path],
      queryFn: () => rig.steady.json(`http://api.example${path}`),
    }).subscribe(({ status, fetchStatus }) => {
      if (status === 'success' && fetchStatus === 'idle' && !ends.has(path))
        ends.set(path, rig.elapsed() - at);
    });
  };
  slow.forEach(show);
  for (const path of healthy) {
    show(path);
    await rig.time.advance(1000);
  }
  return {
    healthy: new Set(healthy.map((path) => ends.get(path))),
    slow: slow.map((path) => ends.get(path)),
    failures: rig.events.flatMap((event) =>
      event.type === 'request:end' && event.outcome.kind !== 'ok' ? [event.outcome.kind] : [],
    ),
  };
}

const never = 2 ** 31 - 1;
const names = [...'abcde'];

// As with React Query alone, which has one request for each of them.
describe.each([
  ['of one endpoint', names.map((_, id) => `/slow/${id}`)],
  ['of as many endpoints', names.map((name) => `/slow-${name}`)],
])('beside slow reads %s, healthy ones never wait for a connection', (_, paths) => {
  test.each(
    [12_000, 30_000, 55_000, never].flatMap((afterMs) =>
      [1, 2, 3, 4, 5].map((count) => ({ count, afterMs })),
    ),
  )('$count that take $afterMs ms', async ({ count, afterMs }) => {
    const { healthy, slow } = await showBeside(paths.slice(0, count), () => ({ afterMs }));
    expect(healthy).toEqual(new Set([50]));
    const isAnswered = afterMs < never;
    expect(slow).toEqual(paths.slice(0, count).map(() => (isAnswered ? afterMs : undefined)));
  });
});

test('an attempt that has left its connection to a healthy read ends as its late read fails', async () => {
  const paths = names.map((name) => `/slow-${name}`);
  const answers = [
    ...paths.map(() => ({ afterMs: 15_000, status: 503 })),
    ...paths.map(() => ({ afterMs: never })),
  ];
  const { healthy, slow, failures } = await showBeside(
    paths,
    () => answers.shift() ?? { afterMs: 50 },
  );
  expect(failures).toEqual(Array.from({ length: 10 }, () => 'timeout'));
  expect(healthy).toEqual(new Set([50]));
  expect(slow).toEqual([16_250, 16_250, 16_250, 16_250, 16_250]);
});
