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
  folder('origin', 'origin', 'origin', 'operation'),
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
    'form/presses.test.ts',
    'react/use-safe-submit.test.tsx',
    'form',
    'react/use-safe-submit-cleared.test.tsx',
    'react/use-safe-submit-no-key.test.tsx',
    'react/use-safe-submit-refused.test.tsx',
    'react/use-safe-submit-resolve.test.tsx',
    'react/use-safe-submit-strangers.test.tsx',
    'react/bare-client.test.tsx',
    'react/server-render.test.tsx',
    'react-query/end-session.test.tsx',
  ),
  folder(
    'outbox-store',
    'outbox/store',
    'outbox/memory.node.test.ts',
    'outbox/page-store.node.test.ts',
    'outbox/store.node.test.ts',
    'outbox/storage.node.test.ts',
    'outbox/salvage.node.test.ts',
    'outbox',
  ),
  folder(
    'outbox-delivery',
    'outbox/delivery',
    'outbox/ownership.node.test.ts',
    'outbox/deliver.node.test.ts',
    'outbox/due.node.test.ts',
    'outbox',
  ),
  folder('server', 'server', 'server'),
];
