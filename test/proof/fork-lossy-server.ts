import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ledger, LossyOptions, LossyServer } from './lossy-server.ts';

/** The same server, in a process of its own. */
export async function forkLossyServer(options: LossyOptions): Promise<LossyServer> {
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
  };
}
