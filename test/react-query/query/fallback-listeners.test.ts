import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { expect, test } from 'vitest';
import type { Operation } from '../../../src/operation/operation.ts';
import { Route } from '../../../src/operation/parts/route.ts';
import { fallback, type FallbackCode } from '../../../src/react-query/query/fallback.ts';
import { codeOf } from '../../../src/lib/input/made-by.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { presets } from '../../../src/policy/options.ts';

test('however often a fallback is shown while its origin is down, one listener waits for the origin', async () => {
  const client = new QueryClient({ defaultOptions: createSteadfetch().defaultOptions });
  const queryKey: readonly unknown[] = ['prices'];
  const query = client.getQueryCache().build(client, { queryKey });
  const listeners = new Set<() => void>();
  const admission = {
    isDown: () => true,
    outcomes: {
      onRecovery(listener: () => void) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    },
  };
  const operation = {
    route: new Route({ admission, sent: { endpoint: 'GET /prices' } } as never),
    policyOf: () => presets.interactive,
    fail: () => ({ kind: 'stop' }),
    end() {},
  } as unknown as Operation;
  const source = {
    clock: systemClock,
    ledger: {} as never,
    byQuery: new WeakMap([[query, operation]]),
  };
  const { replace } = codeOf<FallbackCode>(fallback('list prices'));
  for (let round = 0; round < 100; round++) {
    query.setState({ fetchStatus: 'fetching' });
    const data = await replace(source, 'list prices', query, operation, new Error('down'), client);
    expect(data).toBe('list prices');
  }
  expect(listeners.size).toBe(1);
});
