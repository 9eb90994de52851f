import { describe } from 'vitest';
import { testIdempotent } from '../server/idempotent-contract.ts';
import { testLease } from '../server/lease-contract.ts';
import { remoteStores, startDrivers } from './remote-stores.ts';

const stores = remoteStores(startDrivers());

describe.each(stores)('with %s', (_, createStore) => {
  testIdempotent(createStore);
});
describe.each(stores)('with %s, a handler that never ends', (name, createStore) => {
  testLease(name, createStore);
});
