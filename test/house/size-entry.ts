// What the first size budget measures: the core that every request and failure runs through. It is a
// part, and no app can import it alone: the checks of the policy, API profiles, events, `json` and
// `retry` come with it. The second budget measures what an app gets.
export { createFetch } from '../../src/fetch/create-fetch.ts';
export { createOperations } from '../../src/fetch/operations.ts';
export { createFailureLedger } from '../../src/query/failure-ledger.ts';
export { createPersister } from '../../src/query/persister.ts';
export { createRetryPair } from '../../src/query/retry-pair.ts';
