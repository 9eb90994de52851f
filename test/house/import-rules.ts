import { dirname, join } from 'node:path/posix';
import { parseAst } from 'vite';

/** Source text by path from the root of the repository, with forward slashes. */
export type SourceFiles = ReadonlyMap<string, string>;

interface Place {
  /** Folders of src, besides its own, that a file in this place may import from. */
  readonly folders: readonly string[];
  /** Packages that it may import from. */
  readonly packages: readonly string[];
  /** Whether it loads a module that the user names. */
  readonly loadsModules?: true;
}

/** The parts of the core, from the bottom to the top: each may import what is before it. */
const core: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  headers: [],
  policy: [],
  tabs: [],
  origin: [],
  connectivity: [],
  operation: [],
  fetch: [],
  idempotency: [],
  api: [],
  'react-query': ['@tanstack/react-query'],
  form: ['@tanstack/react-query'],
  react: ['@tanstack/react-query', 'react'],
};
const parts = Object.keys(core).map((name) => `core/${name}`);
const tools = ['core/lib', 'core/headers'];

/** What is beside the core uses it through one file. */
const beside = ['core/internal.ts', ...tools];

/** The order of the house: each folder may import what is named. */
export const folders: Readonly<Record<string, Place>> = {
  ...Object.fromEntries(
    Object.entries(core).map(([name, packages], index) => [
      `core/${name}`,
      { folders: parts.slice(0, index), packages },
    ]),
  ),
  // It has no hook, and no form of React.
  'core/internal.ts': { folders: parts.slice(0, -1), packages: [] },
  outbox: { folders: beside, packages: ['@tanstack/react-query'] },
  'outbox/react': {
    folders: ['outbox', 'core/react', ...beside],
    packages: ['@tanstack/react-query', 'react'],
  },
  grpc: { folders: beside, packages: [] },
  ui: {
    folders: ['outbox/react', 'outbox', 'core/react', ...beside],
    packages: ['@tanstack/react-query', 'react'],
  },
  axios: { folders: beside, packages: [] },
  server: { folders: tools, packages: [] },
  // The command line: it runs in Node, and nothing imports it.
  doctor: {
    folders: ['core/lib'],
    packages: ['node:fs', 'node:module', 'node:path', 'node:util'],
  },
  check: {
    folders: ['doctor', 'core/idempotency', 'core/fetch', ...tools],
    loadsModules: true,
    packages: [
      'node:fs',
      'node:http',
      'node:https',
      'node:path',
      'node:readline',
      'node:url',
      'node:util',
      'node:zlib',
    ],
  },
  telemetry: { folders: ['outbox', ...beside], packages: [] },
  otel: { folders: ['telemetry', 'outbox', ...beside], packages: ['@opentelemetry/api'] },
  devtools: {
    folders: ['telemetry', 'testing', 'outbox', 'core/react', ...beside],
    packages: ['@tanstack/react-query', 'react', 'react-dom'],
  },
  testing: { folders: beside, packages: ['msw', '@tanstack/react-query', 'react'] },
};

/** Entry files only re-export, each the part of the house that its users asked for by its name. */
const entries: Readonly<Record<string, Place>> = {
  'index.ts': { folders: parts.filter((part) => !/form|react$/.test(part)), packages: [] },
  'policy.ts': { folders: ['core/react-query'], packages: [] },
  'react.ts': { folders: ['outbox/react', 'outbox', ...parts], packages: [] },
  'axios.ts': { folders: ['axios'], packages: [] },
  'grpc.ts': { folders: ['grpc'], packages: [] },
  'outbox.ts': { folders: ['outbox', ...parts], packages: [] },
  'server.ts': { folders: ['server', 'core/lib'], packages: [] },
  'otel.ts': { folders: ['otel'], packages: [] },
  'telemetry.ts': { folders: ['telemetry'], packages: [] },
  'devtools.ts': { folders: ['devtools'], packages: [] },
  'ui.ts': { folders: ['ui'], packages: [] },
  'testing.ts': { folders: ['testing', 'core/lib'], packages: [] },
};

/** The longest part of a path in src that has a place of its own. */
function placeOf(path: string): string | undefined {
  const names = path.split('/').slice(1);
  for (let length = names.length; length > 0; length--) {
    const place = names.slice(0, length).join('/');
    if (place in folders) return place;
  }
  return undefined;
}

const isEntry = (path: string): boolean => path.split('/').length === 2;

type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

function* nodesIn(value: unknown): Generator<Node> {
  if (!isNode(value)) return;
  if (typeof value['type'] === 'string') yield value;
  for (const child of Object.values(value)) yield* nodesIn(child);
}

const parse = (path: string, code: string) =>
  parseAst(code, { lang: path.endsWith('x') ? 'tsx' : 'ts' }, path);

/**
 * What a file imports: statements, re-exports, `import()` and `import('…').Type` alike, with
 * `undefined` for one that is computed.
 */
export function importsOf(path: string, code: string): (string | undefined)[] {
  return [...nodesIn(parse(path, code))]
    .map((node) => node['source'])
    .filter(isNode)
    .map(({ value }) => (typeof value === 'string' ? value : undefined));
}

const isRelative = (specifier: string): boolean => specifier.startsWith('.');
const resolveFrom = (path: string, specifier: string): string => join(dirname(path), specifier);

/** `react/jsx-runtime` is of the package `react`, `@tanstack/react-query/x` of its first two parts. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

function importFault(
  path: string,
  specifier: string | undefined,
  files: SourceFiles,
): string | undefined {
  if (specifier === undefined) {
    const loads = folders[placeOf(path) ?? '']?.loadsModules;
    return loads ? undefined : 'computes what it imports';
  }
  const inDemo = path.startsWith('demo/');
  const target = resolveFrom(path, specifier);
  if (inDemo) {
    // The storm shows what the simulation gives, which runs the source.
    const shows = path.startsWith('demo/src/storm/') && target.startsWith('sim/');
    const staysInside = !isRelative(specifier) || target.startsWith('demo/') || shows;
    return staysInside ? undefined : `imports ${specifier}: a demo imports packages by name`;
  }

  const at = placeOf(path);
  const place = isEntry(path) ? entries[path.slice('src/'.length)] : folders[at ?? ''];
  if (place === undefined) return 'has no place in the order of the house';
  if (!isRelative(specifier)) {
    const allowed = place.packages.includes(packageOf(specifier));
    return allowed ? undefined : `imports ${specifier}: not a package for this place`;
  }
  if (!files.has(target)) return `imports ${specifier}, which is no file of src`;
  if (isEntry(target)) return `imports ${specifier}: nothing inside imports an entry file`;
  const to = placeOf(target) ?? '';
  const allowed = (!isEntry(path) && to === at) || place.folders.includes(to);
  return allowed ? undefined : `imports ${specifier}: imports point down`;
}

/** Every cycle is reported once, as the path that closes it. */
function cyclesIn(files: SourceFiles): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) cycles.push([...trail.slice(start), path].join(' → '));
    if (start !== -1 || done.has(path)) return;
    for (const specifier of importsOf(path, files.get(path) ?? '')) {
      if (specifier === undefined || !isRelative(specifier)) continue;
      const target = resolveFrom(path, specifier);
      if (files.has(target)) visit(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of files.keys()) visit(path, []);
  return cycles.map((cycle) => `${cycle}: a cycle`);
}

/** Also a directive, such as 'use client'. */
const isReExport = (node: Node): boolean =>
  typeof node['directive'] === 'string' ||
  (node['type'] !== 'ImportDeclaration' && isNode(node['source']));

/** Everything that breaks the order of the house, one sentence each. */
export function violations(files: SourceFiles): string[] {
  const faults = [...files].flatMap(([path, code]) =>
    importsOf(path, code)
      .map((specifier) => importFault(path, specifier, files))
      .filter((fault) => fault !== undefined)
      .map((fault) => `${path} ${fault}`),
  );
  const notOnlyReExports = [...files]
    .filter(([path]) => /^src\/[^/]+$/.test(path))
    .filter(([path, code]) => !parse(path, code).body.every((node) => isReExport({ ...node })))
    .map(([path]) => `${path} does more than re-export`);
  return [...faults, ...notOnlyReExports, ...cyclesIn(files)];
}
