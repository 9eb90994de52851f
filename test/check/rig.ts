import { dialects } from '../../src/check/dialects.ts';
import { type Report, runCheck } from '../../src/check/run.ts';
import type { Hooks, Settings } from '../../src/check/settings.ts';
import { defineIdempotency, profiles } from '../../src/core/idempotency/profiles.ts';
import { type FaultName, faults } from './faults.ts';
import { lifetimeMs, startFaultyServer } from './faulty-server.ts';

const trigger = (name: string) => ({ header: ['x-test', name] as const });

/** Everything that can be given, so that no requirement is skipped for want of it. */
export const createSettings = (url: URL, hooks: Hooks): Settings => ({
  url,
  method: 'POST',
  declared: {
    ...dialects.draft,
    profile: defineIdempotency({ ...profiles.draft, maxLength: 255, lifetimeMs }),
    refusals: 'stored',
    failures: 'forgotten',
    replayHeader: 'idempotent-replayed',
  },
  body: '{"article":"kite {{unique}}","price":{"amount":12,"currency":"EUR"},"quantity":1}',
  headers: { 'content-type': 'application/json', authorization: 'Bearer a-1' },
  secondUser: { authorization: 'Bearer b-1' },
  renewed: { authorization: 'Bearer a-2' },
  otherUrl: new URL('/invoices', url),
  otherMethod: 'PUT',
  origin: 'https://app.example',
  hasCredentials: true,
  triggers: {
    refuse: trigger('refuse'),
    fail: trigger('fail'),
    failLate: trigger('failLate'),
    slow: trigger('slow'),
    crash: trigger('crash'),
  },
  hooks,
  ignore: [],
  only: [],
  canWait: false,
  timeoutMs: 5000,
  leaseMs: 1000,
  maxWaitMs: 5000,
});

/** Checks a server with one mistake, or with none; without a count, by its answers alone. */
export async function checkFaulty(
  name: FaultName | undefined,
  { only = [], canCount = true }: { only?: readonly string[]; canCount?: boolean } = {},
): Promise<Report> {
  const server = await startFaultyServer(name);
  try {
    const { effects: countEffects, advanceClock, restart } = server;
    const hooks = { advanceClock, restart, ...(canCount && { countEffects }) };
    const usual = createSettings(server.url, hooks);
    const { declared, ...own } = (name ? faults[name].settings : undefined) ?? {};
    const settings = { ...usual, ...own, declared: { ...usual.declared, ...declared }, only };
    return await runCheck(settings, () => {});
  } finally {
    server.close();
  }
}

/** What is wrong, by the report: the ids, each with what was seen. */
export const wrongIn = ({ results, stopped }: Report): string[] => [
  ...results.flatMap(({ id, finding }) =>
    finding.kind === 'violated' ? [`${id}: ${finding.seen}`] : [],
  ),
  ...(stopped === undefined ? [] : [`stopped: ${stopped}`]),
];
