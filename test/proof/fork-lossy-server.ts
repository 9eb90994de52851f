import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ledger, LossyOptions, LossyServer } from './lossy-server.ts';

/** One whose process can be killed. */
export interface ForkedLossyServer extends LossyServer {
  /** With SIGKILL: it has no time to finish anything. */
  readonly kill: () => Promise<void>;
}

/** The same server, in a process of its own. */
export async function forkLossyServer(options: LossyOptions): Promise<ForkedLossyServer> {
  const script = join(import.meta.dirname, 'lossy-process.ts');
  // No options of this process: a test runner's are not for it.
  const child = fork(script, [JSON.stringify(options)], { execArgv: [] });
  const hear = async <T>(): Promise<T> => {
    const gone = new AbortController();
    const failed = once(child, 'exit', { signal: gone.signal }).then(() => {
      throw new Error('The lossy server has ended.');
    });
    const [message] = (await Promise.race([once(child, 'message'), failed])) as [T];
    failed.catch(() => {});
    gone.abort();
    return message;
  };
  const url = await hear<string>();
  return {
    url,
    report() {
      child.send('report');
      return hear<Ledger>();
    },
    async close() {
      child.send('close');
      await once(child, 'exit');
    },
    async kill() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
