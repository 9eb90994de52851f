import { spawnSync } from 'node:child_process';
import { findChromium } from './chromium.ts';

const remedy =
  'Install one (for example `sudo apt-get install chromium`, or `npx playwright install chromium`), ' +
  'or set CHROMIUM_PATH to the executable of one that is installed.';

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

/** The Chromium of this machine, after installing one with apt-get if there is none. */
function ensureChromium(): string {
  const found = findChromium();
  if (found !== undefined) return found;
  if (!succeeds('apt-get', '--version')) throw new Error(`No Chromium found. ${remedy}`);
  const prefix = rootPrefix();
  if (prefix === undefined) throw new Error(`No Chromium found, and no root rights. ${remedy}`);

  console.log('No Chromium found: installing it with apt-get (about a minute).');
  const packages = ['chromium', 'fonts-liberation'];
  const installed =
    aptGet(prefix, 'update') &&
    aptGet(prefix, 'install', '-y', '--no-install-recommends', ...packages);
  const path = findChromium();
  if (!installed || path === undefined) throw new Error(`apt-get installed no Chromium. ${remedy}`);
  return path;
}

try {
  console.log(`Chromium: ${ensureChromium()}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
