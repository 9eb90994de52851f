// What the first size budget measures: fetch, policy and React Query's options, as every app runs
// them. What createSteadfetch adds to it is `json`, `retry` and the events.
export { createCore } from '../../src/query/create-core.ts';
