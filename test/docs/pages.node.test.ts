import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sidebar } from '../../docs/.vitepress/sidebar.ts';
import { anchorOf, pages as sitePages, sitePathOf, toSite } from '../../docs/.vitepress/site.ts';
import { folders } from '../house/import-rules.ts';
import { compile, type Sample } from './compile.ts';
import { makeReference, makeRulesPage } from './make-reference.ts';
import { namedPages } from './named-pages.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string, end: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => end.test(file))
    .map((file) => join(folder, file));
const pages = filesIn('docs', /\.md$/);
const skills = filesIn('skills', /\.md$/);

const nativeModules = `
declare module 'react-native' {
  export const AppState: {
    addEventListener(type: 'change', listener: (state: string) => void): { remove: () => void };
  };
}
declare module '@react-native-community/netinfo' {
  type State =
    | { isConnected: boolean; isInternetReachable: boolean | null }
    | { isConnected: boolean | null; isInternetReachable: null };
  const NetInfo: { addEventListener: (listener: (state: State) => void) => () => void };
  export default NetInfo;
}
`;

test('every sample in docs, skills and llms.txt compiles', () => {
  const samples = [...pages, ...skills, 'llms.txt'].flatMap((page): Sample[] =>
    [...read(page).matchAll(/```(?<kind>tsx?)\n(?<code>.*?)```/gs)].map(({ groups }, index) => {
      const { kind = '', code = '' } = groups ?? {};
      // One that others import says its name in its first line.
      const own = /^\/\/ (?<name>[\w-]+\.tsx?)\n/.exec(code)?.groups?.['name'];
      return { name: own ?? `${page.replaceAll('/', '-')}-${index}.${kind}`, code };
    }),
  );
  expect(samples.length).toBeGreaterThanOrEqual(8);
  // Samples import the instance of the README from beside them.
  const steady = { name: 'steady.ts', code: read('test/readme/steady.ts') };
  // Recipes of clients import what a generator or a server has made.
  const made = ['documents.ts', 'openapi.ts', 'products_pb.ts', 'trpc-router.ts'].map((name) => ({
    name,
    code: read(`test/clients/recipes/${name}`),
  }));
  // What they import of React Native, as its types have it.
  const native = { name: 'native.d.ts', code: nativeModules };
  expect(compile([...samples, steady, ...made, native])).toBe('');
});

/** The default of an option, as its documentation in src tells it. */
const source = filesIn('src', /\.ts$/).map(read).join('\n');
const plain = (text: string): string => text.replaceAll(/[`'\s]/g, '');
function defaultsOf(option: string): string[] {
  const doc = new RegExp(`@default ([^@]*?)\\s*\\*/\\s*readonly ${option}\\?:`, 'g');
  return [...source.matchAll(doc)].map(([, text = '']) => plain(text));
}

/** Whether a page has the heading of an anchor, by the rules of GitHub. */
function hasHeading(page: string, anchor: string): boolean {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map(anchorOf).includes(anchor);
}

test('the pages that warnings name are there, with their headings', () => {
  const links = namedPages();
  expect(links.length).toBeGreaterThanOrEqual(8);
  const broken = links.filter((link) => {
    const [name = '', anchor] = link.split('#');
    const page = join('docs', name);
    return !existsSync(join(root, page)) || !(anchor === undefined || hasHeading(page, anchor));
  });
  expect(broken).toEqual([]);
  // No other message names one: pageOf says where they are.
  expect(source.match(/\(docs\/[\w/-]+\.md|see docs\//g)).toBeNull();
});

test('every warning of the library is written by warn(), which names its page', () => {
  // Behind them: the error of a store, a name in production, and an error of the app.
  const others = ['server/options.ts', 'core/lib/input/check.ts', 'core/lib/input/callback.ts'];
  const writers = filesIn('src', /\.tsx?$/).filter(
    (path) =>
      !/^src\/(check|doctor)\//.test(path) &&
      /^(?!\s*(\*|\/\/)).*console\.(warn|error|info|log)\(/m.test(read(path)),
  );
  expect(writers.toSorted()).toEqual(
    ['core/lib/input/warn.ts', ...others].map((path) => `src/${path}`).toSorted(),
  );
});

test('the package carries the pages that its messages and its skill name, and no others', () => {
  const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
  const ofSkills = skills.flatMap((skill) =>
    [...read(skill).matchAll(/\]\(([^)#]*docs\/[^)#]*)/g)].map(([, path = '']) =>
      join(dirname(skill), path),
    ),
  );
  const named = namedPages().map((link) => join('docs', link.replace(/#.*/, '')));
  expect(files.filter((file) => file.startsWith('docs/')).toSorted()).toEqual(
    [...new Set([...named, ...ofSkills])].toSorted(),
  );
});

test('the sidebar has every page of the site once, but for the start of the Japanese part', () => {
  const links = sidebar.flatMap(({ items = [] }) =>
    items.flatMap((item) => [item, ...(item.items ?? [])]),
  );
  const files = sitePages.filter((page) => page !== 'docs/ja.md').map(sitePathOf);
  expect(links.map(({ link = '' }) => link.replace(/^\/(.*)\.html$/, '$1.md')).toSorted()).toEqual(
    files.toSorted(),
  );
});

test('a page links to each page of the folder of its name, and the sidebar has them in that order', () => {
  const fileOf = ({ link = '' }): string => `docs${link.replace(/\.html$/, '.md')}`;
  const pagesWithFolder = sidebar
    .flatMap(({ items = [] }) => items)
    .map((item) => ({ page: fileOf(item), others: item.items?.map(fileOf) ?? [] }))
    .filter(({ page, others: [first] }) => first?.startsWith(page.replace(/\.md$/, '/')));
  expect(pagesWithFolder.length).toBeGreaterThan(10);
  for (const { page, others } of pagesWithFolder) {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) =>
      join(dirname(page), path),
    );
    const linked = [...new Set(links)].filter((link) => others.includes(link));
    expect(linked, page).toEqual(others);
  }
});

test('a link leads from one page of the site to another, and to nothing that the site does not have', () => {
  const from = (page: string, ...links: string[]) => links.map((link) => toSite(link, page));
  expect(from('docs/storms/README.md', '../retry.md#where', 'one-user.md', '#d')).toEqual([
    '../retry.md#where',
    'one-user.md',
    '#d',
  ]);
  expect(
    from('README.md', 'docs/README.md', 'docs/ja.md', 'test/size', 'https://a.example'),
  ).toEqual(['index.md', 'ja/index.md', undefined, 'https://a.example']);
  expect(from('docs/ja.md', 'README.md', 'retry.md')).toEqual(['../index.md', '../retry.md']);
});

test('headings have the anchors of GitHub', () => {
  expect(anchorOf('What `Retry-After` is (and why)')).toBe('what-retry-after-is-and-why');
  expect(anchorOf('導入 & A')).toBe('導入--a');
});

test('docs/reference is what npm run reference makes of the types', () => {
  const made = makeReference();
  expect(readdirSync(join(root, 'docs/reference')).toSorted()).toEqual([...made.keys()].toSorted());
  for (const [page, text] of made) expect(read(join('docs/reference', page))).toBe(text);
});

test('the stop rules in docs/retry/rules.md are what npm run reference makes of the code', () => {
  const page = read('docs/retry/rules.md');
  expect(page).toBe(makeRulesPage());
  const [, told = ''] =
    /export type StopReason =(.*?);\n/s.exec(read('src/core/policy/decide.ts')) ?? [];
  const reasons = [...told.matchAll(/^ {2}\| '([\w-]+)'/gm)].map(([, reason]) => reason);
  const rules = [...page.matchAll(/^\| \d+ \| [A-Z][\w -]+ \| `([\w-]+)` \| [A-Z`].*\. \|$/gm)];
  // A user cancels: no failure is decided on.
  expect(rules.length).toBeGreaterThanOrEqual(reasons.length);
  expect(new Set([...rules.map(([, reason]) => reason), 'cancelled'])).toEqual(new Set(reasons));
});

describe('docs/ja.md', () => {
  const samplesOf = (text: string): string[] =>
    [...text.matchAll(/```(?:tsx?|sh)\n.*?```/gs)].map(([sample]) => sample);

  test('has samples of the README alone', () => {
    const known = samplesOf(read('README.md'));
    const samples = samplesOf(read('docs/ja.md'));
    expect(samples).toHaveLength(4);
    expect(samples.filter((sample) => !known.includes(sample))).toEqual([]);
  });

  test('has the figures of the README alone', () => {
    const known = new Set(read('README.md').match(/\d[\d,.]*\d|\d/g));
    const figures = read('docs/ja.md').match(/\d[\d,.]*\d|\d/g) ?? [];
    expect(figures.length).toBeGreaterThan(40);
    expect(figures.filter((figure) => !known.has(figure))).toEqual([]);
  });
});

describe('docs/internals.md', () => {
  const page = read('docs/internals.md');
  const toldUnder = (head: string): string[] => {
    const [, rows = ''] = page.split(`| folder of \`${head}\` | what is in it |\n|---|---|\n`);
    return [...(rows.split('\n\n')[0] ?? '').matchAll(/^\| `([\w-]+)` \|/gm)].map(
      ([, name = '']) => name,
    );
  };
  const core = toldUnder('src/core').map((name) => `core/${name}`);
  const told = [...toldUnder('src'), ...core];

  test('has every folder of src', () => {
    const foldersIn = (path: string): string[] =>
      readdirSync(join(root, path), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name);
    const names = foldersIn('src').filter((name) => name !== 'core');
    names.push(...foldersIn('src/core').map((name) => `core/${name}`));
    expect(told.toSorted()).toEqual(names.toSorted());
  });

  test('has them in the order in which they import', () => {
    const upwards = told.flatMap((name, index) =>
      (folders[name]?.folders ?? ['no place'])
        .map((below) => below.replace(/^outbox\/.*/, 'outbox'))
        .filter((below) => below !== 'core/internal.ts')
        .filter((below) => told.indexOf(below) <= index)
        .map((below) => `${name} imports ${below}`),
    );
    expect(upwards).toEqual([]);
  });
});

test('the files that CONTRIBUTING.md names are there', () => {
  const names = [...read('CONTRIBUTING.md').matchAll(/`((?:src|test)\/[\w./*-]+)`/g)].map(
    ([, name = '']) => name,
  );
  expect(names.length).toBeGreaterThan(40);
  expect(names.filter((name) => globSync(name, { cwd: root }).length === 0)).toEqual([]);
});

describe('docs/telemetry/events.md', () => {
  const own = ['type', 'at', 'operation'];
  /** The events of a union, each with its fields in their order. */
  const eventsOf = (path: string, name: string): [type: string, fields: string][] => {
    const [, union = ''] =
      new RegExp(`export type ${name} =(.*?\\}\\));\n`, 's').exec(read(path)) ?? [];
    return union.split(/\n {2}\| /).flatMap((member): [string, string][] => {
      const fields = [...member.matchAll(/readonly (\w+)\??:/g)].map(([, field = '']) => field);
      const [, type] = /readonly type: '([\w:]+)'/.exec(member) ?? [];
      return type ? [[type, fields.filter((field) => !own.includes(field)).join()]] : [];
    });
  };
  const tables = read('docs/telemetry/events.md').matchAll(
    /^\| type \| when \| with \|\n.*\n((?:\|.*\n)*)/gm,
  );
  const [operations = [], states = []] = [...tables].map(([, rows = '']) =>
    [...rows.matchAll(/^\| `([\w:]+)` \| .* \| (.*)\|$/gm)].map(([, type, fields = '']) => [
      type,
      [...fields.matchAll(/`(\w+)`/g)].map(([, field]) => field).join(),
    ]),
  );

  test.each([
    ['of operations', operations, 'src/core/operation/events.ts', 'SteadfetchEvent', 9],
    ['of subscribeAll alone', states, 'src/telemetry/subscribe-all.ts', 'StateEvent', 6],
  ] as const)(
    'the table of events %s has each of them, with its fields',
    (_, table, path, name, count) => {
      const events = eventsOf(path, name);
      expect(events).toHaveLength(count);
      expect(table).toEqual(events);
    },
  );
});

const rootPages = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  'AGENTS.md',
  'llms.txt',
  'examples/README.md',
  ...skills,
];

describe.each([...pages, ...rootPages])('%s', (page) => {
  const text = read(page);

  const tables = [...text.matchAll(/^\| option \| default \|.*\n(?:\|.*\n)*/gm)].join('\n');
  const rows = [...tables.matchAll(/^\| `(?:\w+\.)*(\w+)` \| ([^|]*) \|/gm)];
  test('tells the defaults as they are', () => {
    for (const [, option = '', told = ''] of rows) {
      expect(defaultsOf(option), option).toContain(plain(told));
    }
  });

  test('links to what is there, also within a page', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
    const broken = links.filter(([, path = '', anchor]) => {
      const target = path === '' ? page : join(dirname(page), path);
      return (
        !existsSync(join(root, target)) || !(anchor === undefined || hasHeading(target, anchor))
      );
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});
