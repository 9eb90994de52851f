import type { Contender } from './contender.ts';
import { compare, type Figures } from './compare.ts';
import { forkLossyServer } from './fork-lossy-server.ts';
import { submitAll } from './submit-all.ts';

export interface ProofOptions {
  readonly orders: number;
  readonly tabs: number;
  readonly speed: number;
  readonly seed: number;
}

/** One contender against a server of its own. */
export async function runProof(contender: Contender, options: ProofOptions): Promise<Figures> {
  const server = await forkLossyServer(options);
  try {
    const line = { url: server.url, speed: options.speed };
    const told = await submitAll(contender, line, options);
    return compare(told, await server.report());
  } finally {
    await server.close();
  }
}
