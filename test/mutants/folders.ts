import { existsSync } from 'node:fs';

/** A folder of src whose mutants are made, and the tests that must find them: folders or files, in this order. */
export interface Folder {
  readonly name: string;
  readonly source: string;
  readonly tests: readonly string[];
}

/** The path of what is named within src or test: in the core, or beside it. */
export function locate(root: 'src' | 'test', name: string): string {
  const path = [`${root}/core/${name}`, `${root}/${name}`].find((one) => existsSync(one));
  if (path === undefined) throw new Error(`There is no ${root}/${name}.`);
  return path;
}

const folder = (name: string, source: string, ...tests: readonly string[]): Folder => ({
  name,
  source: locate('src', source),
  tests: tests.map((test) => locate('test', test)),
});

/** All that `npm run mutants` knows. A folder that moves is changed here alone. */
export const folders: readonly Folder[] = [
  folder('headers', 'headers', 'headers'),
  folder(
    'policy',
    'policy',
    'policy',
    'origin/pace.node.test.ts',
    'origin/refusals.node.test.ts',
    'origin/carried.node.test.ts',
    'origin/gates.node.test.ts',
  ),
  folder(
    'origin',
    'origin',
    'origin/order.node.test.ts',
    'origin/expiry.node.test.ts',
    'origin/latency.node.test.ts',
    'origin/carried.node.test.ts',
    'origin/slow-start.node.test.ts',
    'origin/probe-schedule.node.test.ts',
    'origin/wait-queue.node.test.ts',
    'origin/probe-gaps.node.test.ts',
    'origin/slow-start-gaps.node.test.ts',
    'origin/rate-limits.node.test.ts',
    'origin/refused-scopes.node.test.ts',
    'origin/origin-health.node.test.ts',
    'origin/broken-endpoint.node.test.ts',
    'origin/health-parts.node.test.ts',
    'origin/admission.node.test.ts',
    'origin/admission-network.node.test.ts',
    'origin/admission-tabs.node.test.ts',
    'origin/recovery.node.test.ts',
    'origin/shown-failure.node.test.ts',
    'origin/user-probes.node.test.ts',
    'origin/origins.node.test.ts',
    'origin/pace.node.test.ts',
    'origin/brown-out.node.test.ts',
    'origin/refusals.node.test.ts',
    'origin/retry-at.node.test.ts',
    'origin/health.node.test.ts',
    'origin/origins.test.ts',
    'tabs/advice.node.test.ts',
    'origin/partial-failure.node.test.ts',
    'origin/gates.node.test.ts',
    'origin/refused-together.test.ts',
    'origin/retry-after.test.ts',
    'origin/long-limit.test.tsx',
    'origin/who-waits.test.ts',
    'origin/refused.test.ts',
    'origin/one-time-out.test.ts',
    'origin/fast-retry.test.ts',
    'origin/unreadable.test.ts',
    'origin/another-network.test.ts',
    'origin/never-worse-than-plain.test.ts',
    'origin/options.node.test.ts',
    'origin/probe-nothing.test.ts',
    'origin/broken-line.node.test.ts',
    'operation/trial.node.test.ts',
    'operation/retry.node.test.ts',
    'operation/asleep.test.ts',
    'tabs/many-origins.node.test.ts',
    'origin/thousands.node.test.ts',
    'origin/what-is-shown.node.test.ts',
    'origin/broken-after.test.ts',
  ),
  folder('idempotency', 'idempotency', 'idempotency'),
  folder(
    'request',
    'fetch',
    'fetch',
    'operation',
    'idempotency',
    'api',
    'react-query/mutation/late-retry.test.ts',
    'react-query/writes-first.test.tsx',
    'react-query/writes-first-limits.test.tsx',
    'connectivity',
    'axios',
    'origin',
    'react/use-status-mutation-controls.test.tsx',
  ),
  folder(
    'form',
    'form',
    'form/payload.node.test.ts',
    'form/result.test.ts',
    'form/find-out.node.test.ts',
    'form/open-form.test.ts',
    'form/submission.test.ts',
    'form/action-form-answers.test.ts',
    'form/action-form.test.ts',
    'react/use-safe-submit.test.tsx',
    'form',
    'react/use-safe-submit-cleared.test.tsx',
    'react/use-safe-submit-no-key.test.tsx',
    'react/use-safe-submit-refused.test.tsx',
    'react/use-safe-submit-resolve.test.tsx',
    'react/use-safe-submit-strangers.test.tsx',
  ),
  folder('outbox-store', 'outbox/store', 'outbox'),
  folder('outbox-delivery', 'outbox/delivery', 'outbox'),
  folder('server', 'server', 'server'),
];
