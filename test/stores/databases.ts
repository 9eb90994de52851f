import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findPostgres, findRedis } from '../setup/databases.ts';

/** A database of the tests' own, on a socket in a folder of its own. */
export interface Database {
  /** The folder of the socket of PostgreSQL, or the path of that of Redis. */
  readonly socket: string;
  /** The id of its process; that of PostgreSQL has children. */
  readonly pid: () => number;
  /** Ends it at once, as a crash does. What it has committed stays. */
  readonly kill: () => Promise<void>;
  /** Starts it again, with what it had. */
  readonly start: () => Promise<void>;
  /** Ends it, and removes its folder. */
  readonly remove: () => Promise<void>;
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root, so as whom else. */
function identityForPostgres(): Identity {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const fields = ['postgres', 'nobody']
    .map((name) => users.find((line) => line.startsWith(`${name}:`)))
    .find((line) => line !== undefined)
    ?.split(':');
  return { uid: Number(fields?.[2]), gid: Number(fields?.[3]) };
}

/** A program that runs until it is killed. */
function createDatabase(
  folder: string,
  socket: string,
  isReady: RegExp,
  crash: NodeJS.Signals,
  spawnIt: () => ChildProcess,
): Database {
  let child: ChildProcess | undefined;
  const killNow = (): void => void child?.kill('SIGKILL');
  process.on('exit', killNow);
  const kill = async (): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(crash);
    await ended;
  };
  return {
    socket,
    pid: () => child?.pid ?? 0,
    kill,
    async start() {
      child = spawnIt();
      const said: string[] = [];
      const output = child.stderr ?? child.stdout;
      if (!output) throw new Error('A database needs a stream for what it says.');
      for await (const line of createInterface({ input: output })) {
        said.push(line);
        if (!isReady.test(line)) continue;
        // Read on, or the program stops when the pipe is full.
        output.resume();
        return;
      }
      throw new Error(`The database has ended before it was ready:\n${said.join('\n')}`);
    },
    async remove() {
      await kill();
      process.off('exit', killNow);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A PostgreSQL of the tests' own. Its user and its database are called `postgres`. */
export async function startPostgres(): Promise<Database> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error('No PostgreSQL: run test/setup/ensure-databases.ts.');
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-postgres-'));
  const identity = identityForPostgres();
  if (identity.uid !== undefined && identity.gid !== undefined)
    chownSync(folder, identity.uid, identity.gid);
  const data = join(folder, 'data');
  const options = { ...identity, cwd: folder };
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed:\n${made.stdout}${made.stderr}`);
  // Without fsync: a killed process loses nothing by that, only a machine without power does.
  const settings = ['listen_addresses=', 'fsync=off', 'max_connections=200'];
  const args = ['-D', data, '-k', folder, ...settings.flatMap((setting) => ['-c', setting])];
  // SIGQUIT is its crash on demand. After a SIGKILL its children live on for a moment, and it cannot start.
  const database = createDatabase(folder, folder, /ready to accept connections/, 'SIGQUIT', () =>
    spawn(join(bin, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] }),
  );
  await database.start();
  return database;
}

/** A Redis of the tests' own, which writes each command to its disk. */
export async function startRedis(): Promise<Database> {
  const path = findRedis();
  if (path === undefined) throw new Error('No Redis: run test/setup/ensure-databases.ts.');
  const folder = mkdtempSync(join(tmpdir(), 'steadfetch-redis-'));
  const socket = join(folder, 'redis.sock');
  const settings = { port: '0', unixsocket: socket, dir: folder, save: '', appendonly: 'yes' };
  const durable = { ...settings, appendfsync: 'always', 'maxmemory-policy': 'noeviction' };
  const args = Object.entries(durable).flatMap(([name, value]) => [`--${name}`, value]);
  const database = createDatabase(folder, socket, /ready to accept connections/i, 'SIGKILL', () =>
    spawn(path, args, { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] }),
  );
  await database.start();
  return database;
}
