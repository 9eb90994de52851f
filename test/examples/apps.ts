import { execSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { packPackage as packInto } from '../setup/pack.ts';

/** It stays from run to run: what is installed there is not installed again. */
const base = join(tmpdir(), 'steadfetch-examples');
const examples = resolve(import.meta.dirname, '../../examples');

/** A page whose instance is made at module level. */
interface Edited {
  readonly path: string;
  /** The module that makes it. */
  readonly module: string;
  /** How many channels there are after each edit of it. */
  readonly channels: number;
}

/** The pages that a rig adds to an example. */
interface Pages {
  /** Those whose instance is made at module level. */
  readonly edited: readonly Edited[];
  /** A page whose server component uses the devtools. */
  readonly withDevtools?: string;
}

/** A project of `examples`. */
export interface Example {
  readonly name: string;
  readonly folder: string;
  /** Starts its server for development, after `npm run dev -- `. */
  readonly dev: (port: number) => string;
}

/** An example of a framework, to which rigs add pages. */
export interface Framework extends Example {
  readonly pages: Pages;
}

const viteDev = (port: number): string => `--host 127.0.0.1 --port ${port} --strictPort`;

export const viteAxios: Example = {
  name: 'Vite and axios',
  folder: 'vite-axios',
  dev: viteDev,
};

export const offlineForm: Example = {
  name: 'An offline-first form',
  folder: 'offline-form',
  dev: viteDev,
};

export const next: Framework = {
  name: 'Next.js, App Router',
  folder: 'next',
  dev: (port) => `--hostname 127.0.0.1 --port ${port}`,
  pages: {
    edited: [
      { path: '/shared', module: 'app/shared/shared.tsx', channels: 1 },
      // Without the line that docs/ssr/hot-updates.md asks for: the one that the page was loaded with stays.
      { path: '/unaided', module: 'app/unaided/unaided.tsx', channels: 2 },
    ],
    withDevtools: '/by-server',
  },
};

export const reactRouter: Framework = {
  name: 'React Router, framework mode',
  folder: 'react-router',
  dev: viteDev,
  pages: {
    edited: [
      { path: '/shared', module: 'app/shared-steady.ts', channels: 1 },
      { path: '/alone', module: 'app/alone.tsx', channels: 1 },
    ],
  },
};

const env = {
  ...process.env,
  // The Node that this runs on, for npm and all that it starts.
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  CI: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NODE_ENV: 'production',
};

/** Packs the package: what users install. */
export function packPackage(): string {
  mkdirSync(base, { recursive: true });
  return packInto(base);
}

function runIn(folder: string, command: string): void {
  try {
    execSync(command, { cwd: folder, env, stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    console.log(stdout, stderr);
    throw new Error(`${command} has failed.`, { cause: error });
  }
}

/** Installs what its package.json names, with the packed package in the place of the published one. */
function install(folder: string, name: string, tarball: string): void {
  const manifest = JSON.parse(readFileSync(join(examples, name, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const dependencies = { ...manifest.dependencies, steadfetch: `file:${tarball}` };
  const wanted = JSON.stringify({ ...manifest, dependencies }, undefined, 2);
  const marker = join(folder, 'node_modules/.installed-from.json');
  if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
    console.log(`Installing ${name} ...`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), wanted);
    runIn(folder, 'npm install --include=dev --no-package-lock --no-audit --no-fund');
    writeFileSync(marker, wanted);
  }
  const installed = join(folder, 'node_modules/steadfetch');
  rmSync(installed, { recursive: true, force: true });
  mkdirSync(installed);
  execSync(`tar -xzf ${tarball} --strip-components=1 -C ${installed}`);
  // Vite keeps what it has made of the package, and does not look whether that is another one now.
  rmSync(join(folder, 'node_modules/.vite'), { recursive: true, force: true });
  for (const path of readdirSync(folder))
    if (path !== 'node_modules') rmSync(join(folder, path), { recursive: true });
  cpSync(join(examples, name), folder, { recursive: true, filter: isSource });
  writeFileSync(join(folder, 'package.json'), wanted);
}

/** Not what somebody has installed or built beside the example itself. */
const isSource = (path: string): boolean =>
  !/[/\\](?:node_modules|dist|build|\.next|\.react-router|shop\.db[-\w]*)$/.test(path);

/**
 * Copies an example, installs the packed package in it, builds it for production, and returns its folder.
 *
 * @param withPages adds the pages of the rigs to it, which no example has.
 */
export function buildExample(
  { folder: name }: Example,
  tarball: string,
  withPages = false,
): string {
  const folder = join(base, name);
  install(folder, name, tarball);
  if (withPages) {
    const pages = join(import.meta.dirname, 'pages');
    cpSync(join(pages, 'shop'), join(folder, 'app'), { recursive: true });
    cpSync(join(pages, name), folder, { recursive: true });
  }
  console.log(`Building ${name} ...`);
  runIn(folder, 'npm run build');
  return folder;
}

/** A port of the loopback device that is free. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

/** A server of an app. */
export interface Running {
  readonly port: number;
  /** What it has printed. */
  readonly output: () => string;
  readonly stop: () => void;
}

/** Starts an app, as it is built or for development, and waits until it answers. */
export async function startApp(
  example: Example,
  mode: 'start' | 'dev',
  folder: string,
  /** Where its server finds the API; by default what the example says. */
  apiOrigin?: string,
): Promise<Running> {
  const port = await findPort();
  const command = mode === 'start' ? 'npm start' : `npm run dev -- ${example.dev(port)}`;
  const child = spawn(command, {
    cwd: folder,
    detached: true,
    env: {
      ...env,
      NODE_ENV: mode === 'dev' ? 'development' : 'production',
      ...(apiOrigin !== undefined && { API_ORIGIN: apiOrigin }),
      HOST: '127.0.0.1',
      PORT: `${port}`,
    },
    shell: true,
    stdio: 'pipe',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  // It may have processes of its own, which end with its group.
  const stop = (): void => {
    if (child.pid && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`${command} has ended:\n${output}`);
    const answer = await fetch(`http://127.0.0.1:${port}/no-such-page`).catch(() => undefined);
    if (answer) return { port, output: () => output, stop };
    await new Promise((done) => setTimeout(done, 200));
  }
  stop();
  throw new Error(`The app has not answered for a minute:\n${output}`);
}
