import { spawnSync } from 'node:child_process';

const succeeds = (...[command, ...args]: [string, ...string[]]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** How to become root for apt-get: not at all, with sudo, or `undefined` for there is no way. */
function rootPrefix(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  return succeeds('sudo', '-n', 'true') ? ['sudo', '-n'] : undefined;
}

function aptGet(prefix: string[], ...args: string[]): boolean {
  // `env`, because sudo drops the variables of its caller.
  const apt = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  const waitForOthers = ['-o', 'DPkg::Lock::Timeout=300'];
  const [command = '', ...rest] = [...prefix, ...apt, ...waitForOthers, ...args];
  return spawnSync(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** A program that the tests need. */
interface Program {
  readonly name: string;
  /** Where it is; undefined when it is nowhere. */
  readonly find: () => string | undefined;
  /** What apt-get installs it with. */
  readonly packages: readonly string[];
  /** What the user can do, as sentences. */
  readonly remedy: string;
}

/**
 * Finds a program, after installing it with apt-get if there is none.
 *
 * @throws Error that names the remedy.
 */
function ensure({ name, find, packages, remedy }: Program): string {
  const found = find();
  if (found !== undefined) return found;
  if (!succeeds('apt-get', '--version')) throw new Error(`No ${name} found. ${remedy}`);
  const prefix = rootPrefix();
  if (prefix === undefined) throw new Error(`No ${name} found, and no root rights. ${remedy}`);

  console.log(`No ${name} found: installing it with apt-get (about a minute).`);
  const isInstalled =
    aptGet(prefix, 'update') &&
    aptGet(prefix, 'install', '-y', '--no-install-recommends', ...packages);
  const path = find();
  if (!isInstalled || path === undefined)
    throw new Error(`apt-get installed no ${name}. ${remedy}`);
  return path;
}

/** Tells where the programs are, after installing those that are missing. Else the process fails. */
export function ensurePrograms(programs: readonly Program[]): void {
  try {
    for (const program of programs) console.log(`${program.name}: ${ensure(program)}`);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
