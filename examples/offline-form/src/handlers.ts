import { createSteadfetch, defineIdempotency, profiles, watchConnectivity } from 'steadfetch';
import { outboxHandler } from 'steadfetch/outbox';

export const steady = createSteadfetch({
  connectivity: watchConnectivity({ check: '/here.txt' }),
  apis: [
    {
      match: '/api',
      // As long as server.js keeps keys: a day.
      idempotency: defineIdempotency({ ...profiles.draft, lifetimeMs: 86_400_000 }),
    },
  ],
});

export interface Report {
  readonly id: string;
  readonly text: string;
}

export const handlers = {
  addReport: outboxHandler({
    mutationFn: (report: { text: string }, { json }) =>
      json<Report>('/api/reports', { json: report }),
    invalidates: [['reports']],
  }),
};
