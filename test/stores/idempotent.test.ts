import { describe } from 'vitest';
import { testIdempotent } from '../server/idempotent-contract.ts';
import { testLease } from '../server/lease-contract.ts';
import { sharedStores, startDrivers } from './shared-stores.ts';

const stores = sharedStores(startDrivers());

describe.each(stores)('with %s', (_, createStore) => {
  testIdempotent(createStore);
});
describe.each(stores)('with %s, a handler that never ends', (name, createStore) => {
  testLease(name, createStore);
});
