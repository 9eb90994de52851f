import { failTimes, virtualTime } from 'steadfetch/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';

/** What Node 20 lacks, and MSW 3 needs for each request. */
function removeWithResolvers(): void {
  const withResolvers: unknown = Reflect.get(Promise, 'withResolvers');
  Reflect.deleteProperty(Promise, 'withResolvers');
  onTestFinished(() => void Object.assign(Promise, { withResolvers }));
}

describe('where MSW 3 answers no request', () => {
  const message = `MSW 3 needs Node 22.12 or later, and this is Node ${process.versions.node}, where it answers no request. Run the tests on Node 22.12 or later, or install msw@2.`;

  test('a fault says so when it is made', () => {
    removeWithResolvers();
    expect(() => failTimes(1, 503)).toThrow(new Error(`steadfetch/testing: ${message}`));
  });

  test('so does virtual time, and leaves the timers alone', () => {
    removeWithResolvers();
    expect(() => virtualTime(vi)).toThrow(new Error(`virtualTime: ${message}`));
    expect(vi.isFakeTimers()).toBe(false);
  });

  test('where no MSW is found, nothing is said', () => {
    removeWithResolvers();
    vi.spyOn(process, 'cwd').mockReturnValue('/');
    onTestFinished(() => void vi.restoreAllMocks());
    expect(failTimes(1, 503).requestCount).toBe(0);
  });
});

test('where MSW 3 cannot make its requests, because fetch refuses the signals of the environment, virtual time says so', () => {
  vi.stubGlobal(
    'AbortController',
    class {
      readonly signal = {};
    },
  );
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => virtualTime(vi)).toThrow(
    new Error(
      `virtualTime: MSW 3 answers no request here, because Node ${process.versions.node} refuses the AbortSignal of this environment, as that of jsdom under Vitest 3. Use Vitest 4 or later, happy-dom, or msw@2.`,
    ),
  );
  expect(vi.isFakeTimers()).toBe(false);
});
