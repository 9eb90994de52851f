import {
  QueryClient,
  QueryClientProvider,
  useMutation,
  useQuery,
  useSuspenseQuery,
} from '@tanstack/react-query';
import { act as testingLibraryAct, render, screen, waitFor } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { http, HttpResponse } from 'msw';
import { act as reactAct, type ReactNode, Suspense, useEffect, useState } from 'react';
import { type Fault, failTimes, slow, virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
let time: VirtualTime;
let start: number;

/** When the requests arrived, in milliseconds since the start of the test. */
const arrivals = (fault: Fault) => fault.requests.map(({ at }) => at - start);

async function request(init?: RequestInit): Promise<string> {
  const response = await fetch('/api/name', init);
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  return response.text();
}

function serve(fault: Fault): Fault {
  server.use(
    http.all('/api/name', fault),
    http.all('/api/name', async ({ request: { method, body } }) =>
      HttpResponse.text(method === 'GET' ? 'Lamp' : await new Response(body).text()),
    ),
  );
  return fault;
}

function show(children: ReactNode): void {
  const client = new QueryClient();
  render(<QueryClientProvider client={client}>{children}</QueryClientProvider>);
}

function Name({ retryDelay = 1000 }) {
  const query = useQuery({ queryKey: ['name'], queryFn: () => request(), retry: 3, retryDelay });
  return (
    <p>
      {query.status}, failed {query.failureCount}: {query.data ?? 'nothing'}
    </p>
  );
}

function SuspendedName() {
  const query = useSuspenseQuery({
    queryKey: ['name'],
    queryFn: () => request(),
    retryDelay: 100,
  });
  return <p>{query.data}</p>;
}

function NameForm() {
  const [name, setName] = useState('');
  const mutation = useMutation({
    mutationFn: (body: string) => request({ method: 'POST', body }),
    retry: 1,
    retryDelay: 330,
  });
  return (
    <>
      <input value={name} onChange={(event) => setName(event.target.value)} />
      <button onClick={() => mutation.mutate(name.repeat(100_000))}>Send</button>
      <p>
        {mutation.status}: {mutation.data?.length}
      </p>
    </>
  );
}

/** React warns of updates outside of act, and of calls of act that overlap. */
function expectNoWarning(): void {
  expect(console.error).not.toHaveBeenCalled();
}

describe.each([
  ["React's act", reactAct],
  ["Testing Library's act", testingLibraryAct],
])('with %s', (_name, act) => {
  beforeEach(() => {
    time = virtualTime(vi, { act });
    start = time.now();
    vi.spyOn(console, 'error');
  });
  afterEach(() => {
    expectNoWarning();
    vi.restoreAllMocks();
    time.restore();
  });

  test("React Query's retries are sent exactly when they are due, and shown at once", async () => {
    const fault = serve(failTimes(2, 503));
    show(<Name />);
    expect(screen.getByText('pending, failed 0: nothing')).toBeDefined();
    await time.settle();
    expect(screen.getByText('pending, failed 1: nothing')).toBeDefined();
    expect(arrivals(fault)).toEqual([0]);

    await time.advance(999);
    expect(arrivals(fault)).toEqual([0]);
    await time.advance(1);
    expect(arrivals(fault)).toEqual([0, 1000]);
    expect(screen.getByText('pending, failed 2: nothing')).toBeDefined();

    await time.advance(1000);
    expect(arrivals(fault)).toEqual([0, 1000, 2000]);
    expect(screen.getByText('success, failed 0: Lamp')).toBeDefined();
    await time.advance(60_000);
    expect(fault.requestCount).toBe(3);
  });

  test('a single long advance sends them at the same times', async () => {
    const fault = serve(failTimes(Infinity, 500));
    show(<Name retryDelay={1234} />);
    await time.advance(60_000);
    expect(arrivals(fault)).toEqual([0, 1234, 2468, 3702]);
    expect(screen.getByText('error, failed 4: nothing')).toBeDefined();
  });

  test('findBy takes no longer than what it waits for, and the times stay exact', async () => {
    await time.advance(13);
    start = time.now();
    const fault = serve(failTimes(2, 503));
    show(<Name retryDelay={777} />);

    await screen.findByText('pending, failed 1: nothing');
    expect(time.now() - start).toBe(0);
    await screen.findByText('success, failed 0: Lamp', {}, { timeout: 2000 });
    expect(time.now() - start).toBe(1554);
    expect(arrivals(fault)).toEqual([0, 777, 1554]);
  });

  test('waitFor gives up after its timeout in virtual time', async () => {
    serve(failTimes(Infinity, 503));
    show(<Name />);
    const text = () => screen.getByText('success, failed 0: Lamp');
    await expect(waitFor(text, { timeout: 2345 })).rejects.toThrow('Unable to find an element');
    expect(time.now() - start).toBe(2345);
  });

  test('user-event types and presses without any time passing', async () => {
    const fault = serve(failTimes(1, 503));
    const user = userEvent.setup({ advanceTimers: time.advance });
    show(<NameForm />);
    await user.type(screen.getByRole('textbox'), 'Lamp');
    await user.click(screen.getByRole('button'));
    expect(time.now()).toBe(start);

    await screen.findByText('success: 400000');
    expect(arrivals(fault)).toEqual([0, 330]);
    expect(time.now() - start).toBe(330);
  });

  test('user-event waits in virtual time when it is told to wait between keys', async () => {
    const user = userEvent.setup({ advanceTimers: time.advance, delay: 40 });
    show(<NameForm />);
    await user.type(screen.getByRole('textbox'), 'Lamp');
    expect(screen.getByRole('textbox')).toHaveProperty('value', 'Lamp');
    // The pointer moves, presses and releases; then come four keys. It waits after each.
    expect(time.now() - start).toBe(7 * 40);
  });

  test('what was suspended is shown as soon as its data is there', async () => {
    const fault = serve(failTimes(1, 503));
    show(
      <Suspense fallback="Loading">
        <SuspendedName />
      </Suspense>,
    );
    await time.settle();
    expect(screen.getByText('Loading')).toBeDefined();
    await time.advance(100);
    expect(screen.getByText('Lamp')).toBeDefined();
    expect(arrivals(fault)).toEqual([0, 100]);
  });

  test('a slow answer arrives when it is due', async () => {
    serve(slow({ delayMs: 456 }));
    show(<Name />);
    await time.advance(455);
    expect(screen.getByText('pending, failed 0: nothing')).toBeDefined();
    await time.advance(1);
    expect(screen.getByText('success, failed 0: Lamp')).toBeDefined();
  });

  test('a chain of effects and requests settles to its end', async () => {
    serve(failTimes(0, 503));
    function Chain() {
      const [length, setLength] = useState(0);
      useEffect(() => {
        if (length < 8) void request().then(() => setLength(length + 1));
      }, [length]);
      return <p>{length}</p>;
    }
    show(<Chain />);
    await time.settle();
    expect(screen.getByText('8')).toBeDefined();
  });

  test('the act environment is left as it was', async () => {
    const environment = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean };
    await time.advance(10);
    expect(environment.IS_REACT_ACT_ENVIRONMENT).toBe(true);
    environment.IS_REACT_ACT_ENVIRONMENT = false;
    await time.advance(10);
    expect(environment.IS_REACT_ACT_ENVIRONMENT).toBe(false);
    environment.IS_REACT_ACT_ENVIRONMENT = true;
  });
});
