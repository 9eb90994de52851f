import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { expect, test } from 'vitest';
import type { Operation } from '../../../../src/core/operation/operation.ts';
import { Route } from '../../../../src/core/operation/parts/route.ts';
import { fallback, type FallbackCode } from '../../../../src/core/react-query/query/fallback.ts';
import { codeOf } from '../../../../src/core/lib/input/made-by.ts';
import { systemClock } from '../../../../src/core/lib/clock.ts';
import { presets } from '../../../../src/core/policy/options.ts';
import { createQueryRecords } from '../../../../src/core/react-query/query/records.ts';

test('however often a fallback is shown while its origin is down, one watcher waits for the origin', async () => {
  const client = new QueryClient({ defaultOptions: createSteadfetch().defaultOptions });
  const queryKey: readonly unknown[] = ['prices'];
  const query = client.getQueryCache().build(client, { queryKey });
  const watchers = new Set<unknown>();
  const admission = {
    origin: { health: { isDown: () => true } },
    watch(watcher: unknown) {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
  };
  const operation = {
    route: new Route({ admission, sent: { endpoint: 'GET /prices' } } as never),
    policyOf: () => presets.interactive,
    errors: { decision: undefined, lastError: undefined },
    fail: () => ({ kind: 'stop' }),
    end() {},
  } as unknown as Operation;
  const byQuery = createQueryRecords();
  byQuery.of(query).begin(operation, query);
  const source = { clock: systemClock, ledger: {} as never, byQuery };
  const { replace } = codeOf<FallbackCode>(fallback('list prices'));
  for (let round = 0; round < 100; round++) {
    query.setState({ fetchStatus: 'fetching' });
    const data = await replace(source, 'list prices', query, operation, new Error('down'), client);
    expect(data).toBe('list prices');
  }
  expect(watchers.size).toBe(1);
});
