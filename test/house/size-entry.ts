// What the first size budget measures: the fetch wrapper with the policy it decides by, and React
// Query's options. Not in it: reading and checking the configuration, `json`, `retry`, the hooks.
export { createFetch } from '../../src/fetch/create-fetch.ts';
export { createOperations } from '../../src/fetch/operations.ts';
export { createFailureLedger } from '../../src/query/failure-ledger.ts';
export { createPersister } from '../../src/query/persister.ts';
export { createRetryPair } from '../../src/query/retry-pair.ts';
