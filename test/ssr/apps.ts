import { execSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPackage as packInto } from '../setup/pack.ts';
import manifest from '../../package.json' with { type: 'json' };

/** It stays from run to run: what is installed there is not installed again. */
const base = join(tmpdir(), 'steadfetch-ssr');
const ours = manifest.devDependencies;

/** A page whose instance is made at module level. */
interface Edited {
  readonly path: string;
  /** The module that makes it. */
  readonly module: string;
  /** How many channels there are after each edit of it. */
  readonly channels: number;
}

/** A framework, and how its app is built and started. */
export interface Framework {
  readonly name: string;
  readonly folder: string;
  readonly packages: Readonly<Record<string, string>>;
  readonly build: string;
  readonly start: (port: number) => string;
  /** Starts its server for development. */
  readonly dev: (port: number) => string;
  /** The pages whose instance is made at module level. */
  readonly edited: readonly Edited[];
  /** A page whose server component uses the devtools. */
  readonly withDevtools?: string;
}

const shared = {
  '@tanstack/react-query': ours['@tanstack/react-query'],
  react: ours.react,
  'react-dom': ours['react-dom'],
};

export const next: Framework = {
  name: 'Next.js, App Router',
  folder: 'next',
  packages: {
    ...shared,
    next: '16.4.6',
    '@types/node': ours['@types/node'],
    '@types/react': ours['@types/react'],
    // Next.js runs a compiler with an API, which 7 has not.
    typescript: '5.9.3',
  },
  build: 'node node_modules/next/dist/bin/next build',
  start: (port) => `node node_modules/next/dist/bin/next start --hostname 127.0.0.1 --port ${port}`,
  dev: (port) => `node node_modules/next/dist/bin/next dev --hostname 127.0.0.1 --port ${port}`,
  edited: [
    { path: '/shared', module: 'app/shared/shared.tsx', channels: 1 },
    // Without the line that docs/ssr.md asks for: the one that the page was loaded with stays.
    { path: '/unaided', module: 'app/unaided/unaided.tsx', channels: 2 },
  ],
  withDevtools: '/by-server',
};

export const reactRouter: Framework = {
  name: 'React Router, framework mode',
  folder: 'react-router',
  packages: {
    ...shared,
    '@react-router/dev': '8.4.0',
    '@react-router/node': '8.4.0',
    '@react-router/serve': '8.4.0',
    isbot: '5.1.31',
    'react-router': '8.4.0',
    vite: ours.vite,
  },
  build: 'node node_modules/@react-router/dev/bin.cjs build',
  start: () => 'node node_modules/@react-router/serve/bin.cjs build/server/index.js',
  dev: (port) =>
    `node node_modules/@react-router/dev/bin.cjs dev --host 127.0.0.1 --port ${port} --strictPort`,
  edited: [
    { path: '/shared', module: 'app/shared-steady.ts', channels: 1 },
    { path: '/alone', module: 'app/alone.tsx', channels: 1 },
  ],
};

const env = { ...process.env, CI: '1', NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production' };

/** Packs the package: what users install. */
export function packPackage(): string {
  mkdirSync(base, { recursive: true });
  return packInto(base);
}

/** Installs the app with the packed package, builds it for production, and returns its folder. */
export function buildApp({ folder: name, packages, build }: Framework, tarball: string): string {
  const folder = join(base, name);
  const wanted = JSON.stringify({ private: true, type: 'module', dependencies: packages });
  const marker = join(folder, 'installed.json');
  if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
    console.log(`Installing ${name} ...`);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), wanted);
    execSync('npm install --no-package-lock --no-audit --no-fund', { cwd: folder, stdio: 'pipe' });
    writeFileSync(marker, wanted);
  }
  const installed = join(folder, 'node_modules/steadfetch');
  // Vite keeps what it has made of the package, and does not look whether that is another one now.
  for (const path of ['node_modules/steadfetch', 'node_modules/.vite', 'app', '.next', 'build'])
    rmSync(join(folder, path), { recursive: true, force: true });
  mkdirSync(installed);
  execSync(`tar -xzf ${tarball} --strip-components=1 -C ${installed}`);
  cpSync(join(import.meta.dirname, name), folder, { recursive: true });
  cpSync(join(import.meta.dirname, 'shop'), join(folder, 'app'), { recursive: true });
  console.log(`Building ${name} ...`);
  try {
    execSync(build, { cwd: folder, env, stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: Buffer; readonly stderr: Buffer };
    console.log(stdout.toString(), stderr.toString());
    throw new Error(`${build} has failed.`, { cause: error });
  }
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
  framework: Framework,
  mode: 'start' | 'dev',
  folder: string,
  apiOrigin: string,
): Promise<Running> {
  const port = await findPort();
  const [command = '', ...args] = framework[mode](port).split(' ');
  const child = spawn(command, args, {
    cwd: folder,
    detached: true,
    env: {
      ...env,
      NODE_ENV: mode === 'dev' ? 'development' : 'production',
      API_ORIGIN: apiOrigin,
      HOST: '127.0.0.1',
      PORT: `${port}`,
    },
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
