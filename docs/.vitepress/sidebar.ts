import { dirname, join } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { pages, read, sitePathOf } from './site.ts';

/** The pages of docs, in the order in which a user needs them. */
const sections: Readonly<Record<string, string>> = {
  'Start here': '../README README migrating doctor the-way-out',
  'Read it': 'retry outages connectivity rate-limit concurrency across-tabs fallback',
  'Send it once':
    'mutations idempotency forms server-actions outbox outbox-links conditional-writes',
  'Your clients and frameworks': 'clients apis grpc ssr react-native recipes bundlers',
  'Show it, test it, watch it': 'components testing devtools telemetry',
  'The server’s side': 'server server-stores exactly-once/check-your-server',
  Reference: 'reference/README',
  Measured:
    'storms/README exactly-once/figures components-in-outages connectivity-measured browsers',
  'For contributors': 'internals size suite demo ../sim/README',
};

const filesOf = (names: string): string[] =>
  names.split(' ').map((name) => `docs/${name}.md`.replace('docs/../', ''));

const listed = Object.values(sections).flatMap(filesOf);

function linkTo(file: string): DefaultTheme.SidebarItem {
  const [, heading = file] = /^# (.*)/m.exec(read(file)) ?? [];
  return {
    text: file === 'README.md' ? 'What it is, and the first step' : heading.replaceAll('`', ''),
    link: `/${sitePathOf(file).replace(/\.md$/, '.html')}`,
  };
}

/**
 * A page, with those of its folder, in the order in which it links to them: `outbox.md` is the first of `outbox`, a
 * README or `figures.md` of its own.
 */
function withFolder(file: string): DefaultTheme.SidebarItem {
  const folder = file.replace(/(?:\/(?:README|figures))?\.md$/, '/');
  const links = [...read(file).matchAll(/\]\(([^)#]+)/g)].map(([, path = '']) =>
    join(dirname(file), path).replaceAll('\\', '/'),
  );
  const others = pages
    .filter((page) => page.startsWith(folder) && !listed.includes(page))
    .toSorted((one, other) => links.indexOf(one) - links.indexOf(other));
  const isFirst = folder !== 'docs/' && others.length > 0;
  return { ...linkTo(file), ...(isFirst && { collapsed: true, items: others.map(linkTo) }) };
}

export const sidebar: DefaultTheme.SidebarItem[] = Object.entries(sections).map(
  ([text, names]) => ({
    text,
    items: filesOf(names).map(withFolder),
  }),
);
