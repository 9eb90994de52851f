import { useCallback, useRef, useState } from 'react';
import type { PagePolicyName } from '../../../../sim/page/page-policies.ts';
import type { UserRecord } from '../../../../sim/user/run-user.ts';
import type { UserScenario } from '../../../../sim/user/user-scenario.ts';
import { runInWorker } from '../run-in-worker.ts';

/** What one user sees with one policy. */
export interface SeenByUser {
  readonly policy: PagePolicyName;
  readonly record: UserRecord;
}

interface Users {
  readonly scenario: UserScenario;
  readonly seen: readonly SeenByUser[];
}

/** One user before one page, with a rival and with Steadfetch. */
export function useUsers() {
  const [users, setUsers] = useState<Users>();
  const current = useRef<AbortController>(undefined);

  const cancel = useCallback(() => current.current?.abort(), []);
  const run = useCallback((rival: PagePolicyName, scenario: UserScenario | undefined) => {
    current.current?.abort();
    setUsers(undefined);
    if (!scenario) return;
    const controller = new AbortController();
    current.current = controller;
    const seen: SeenByUser[] = [];
    const runOne = (policy: PagePolicyName): Promise<void> =>
      runInWorker(
        { work: 'user', policy, scenario },
        (reply) => {
          if (reply.kind === 'user') seen.push({ policy, record: reply.record });
        },
        controller.signal,
      );
    void (async () => {
      await runOne(rival);
      await runOne('steadfetch');
      if (!controller.signal.aborted) setUsers({ scenario, seen });
      // A worker that does not start is a problem that the storm tells of.
    })().catch(() => {});
  }, []);
  return { users, run, cancel };
}
