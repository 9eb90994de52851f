// Plain JavaScript without imports from node_modules: it runs before anything is installed.
import { spawn } from 'node:child_process';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(fileURLToPath(import.meta.url), '../../..');
const bin = join(root, 'node_modules/.bin');

/** Prints why the command cannot go on, and ends the process. */
export function fail(message) {
  console.error(`\n${message}`);
  process.exit(1);
}

/**
 * Runs a command, and resolves with whether it succeeded. By default `node` and every tool are the
 * project's own; with `onMachineNode` they are the machine's. With `isQuiet` its output is printed only if it fails.
 *
 * npm does not pass signals on to what its scripts start, so a command must not outlive this
 * process, nor this process the npm that started it: a server would keep its port.
 */
export function run(command, { onMachineNode = false, isQuiet = false } = {}) {
  const machinePath = (process.env['PATH'] ?? '').split(delimiter).filter((path) => path !== bin);
  const path = onMachineNode ? machinePath : [bin, ...machinePath];
  const [tool, ...args] = command.split(' ');
  const child = spawn(tool, args, {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    // The tools are scripts there, which only a shell can start.
    shell: process.platform === 'win32',
    stdio: isQuiet ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => output.push(chunk));

  const stop = () => child.kill();
  const parent = process.ppid;
  const watch = setInterval(() => process.ppid !== parent && stop(), 500);
  // The terminal sends Ctrl-C to the child as well: only wait for its end.
  const wait = () => {};
  process.on('SIGINT', wait).on('SIGTERM', stop).on('SIGHUP', stop);

  return new Promise((settle) => {
    const end = (succeeded) => {
      clearInterval(watch);
      process.off('SIGINT', wait).off('SIGTERM', stop).off('SIGHUP', stop);
      settle(succeeded);
    };
    child.once('error', (error) => {
      console.error(error.message);
      end(false);
    });
    // Not on exit, which may come before the last output.
    child.once('close', (code) => {
      if (code !== 0) process.stderr.write(Buffer.concat(output));
      end(code === 0);
    });
  });
}
