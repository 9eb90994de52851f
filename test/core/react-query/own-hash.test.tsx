import { useQuery } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { record } from 'steadfetch/devtools';
import { traceOperations } from 'steadfetch/otel';
import { useRetryStatus } from 'steadfetch/react';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openSdk } from '../../otel/rig.ts';
import { createRig, type Rig } from './rig.tsx';

/** Of a balance at a block, as wallets have it: JSON has no BigInt, so its hash is the app's own. */
const queryKey = ['balance', { block: 17n }];
const options = {
  queryKey,
  queryKeyHashFn: () => 'balance 17',
};

function showBalance(rig: Rig, queryFn: () => Promise<unknown>): void {
  function Balance() {
    const { data } = useQuery({ ...options, queryFn });
    const { status, attempt } = useRetryStatus(options);
    return <p>{`${JSON.stringify(data)} ${status} ${attempt}`}</p>;
  }
  rig.show(<Balance />);
}

const seen = (): string => screen.getByText(/./, { selector: 'p' }).textContent;

test('a query whose key has a hash of its own tells each change of its status', async () => {
  const rig = createRig();
  rig.server.plan('/balance', 503, { body: 5, afterMs: 10 });
  showBalance(rig, () => rig.steady.json('/balance'));
  await rig.time.settle();
  expect(seen()).toBe('undefined waiting 1');
  await rig.time.advance(500);
  expect(seen()).toBe('undefined sending 2');
  await rig.time.advance(10);
  expect(seen()).toBe('5 succeeded 2');
});

test('its warnings name it by its hash, and nothing rejects', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  const rig = createRig({ policy: { maxRetries: 0 } });
  rig.server.plan('/balance', 404);
  showBalance(rig, async () => {
    await Promise.resolve();
    return rig.steady.json('/balance');
  });
  await rig.time.settle();
  expect(seen()).toBe('undefined failed 1');
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.stringContaining('A request of the query balance 17 is not known as its own'),
  );
});

test('its key is written wherever keys are', async () => {
  const rig = createRig();
  const sdk = openSdk();
  onTestFinished(traceOperations(rig.steady, { tracer: sdk.tracer, showQueryKeys: true }));
  const recorder = record(rig.steady);
  onTestFinished(() => recorder.stop());
  showBalance(rig, () => rig.steady.json('/balance'));
  await rig.time.settle();
  const written = '["balance",{"block":"17"}]';
  expect(recorder.write().replaceAll(/\s/g, '')).toContain(written);
  expect(sdk.spans().map(({ attributes }) => attributes['steadfetch.query.key'])).toContain(
    written,
  );
});
