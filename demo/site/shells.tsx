import { renderToString } from 'react-dom/server';
import type { Plugin } from 'vite';
import { entries, type Entry, type Name, Shell } from '../src/shell.tsx';
import { isStorm } from '../src/storm/is-storm.ts';

/** The frame of each page, as it is before the page is loaded. */
function renderShells(): Readonly<Record<Name, string>> {
  const render = ([name, { head }]: readonly [string, Entry]): readonly [string, string] => [
    name,
    renderToString(<Shell name={name as Name} head={head} isBusy />),
  ];
  return Object.fromEntries(Object.entries<Entry>(entries).map(render)) as Record<Name, string>;
}

/** The hash is known to the browser alone: it chooses, before the first picture. As `parseHash` does. */
function choose(
  name: string | undefined,
  isHome: boolean,
  shells: Readonly<Record<string, string>>,
): string | undefined {
  if (isHome || name === 'storm') return undefined;
  return name !== undefined && Object.hasOwn(shells, name) ? shells[name] : shells['read'];
}

/** Puts the frames into the HTML, so that they are there before any script has come. */
export function withShells(html: string): string {
  const { storm, ...others } = renderShells();
  // In a script, nothing may look like its end.
  const literal = JSON.stringify(others).replaceAll('<', '\\u003c');
  const script = `{
  const { hash } = location;
  const shell = (${choose.toString()})(hash.split('/')[1], (${isStorm.toString()})(hash), ${literal});
  if (shell) document.getElementById('root').innerHTML = shell;
}`;
  return html.replace(
    '<div id="root"></div>',
    () => `<div id="root">${storm}</div>\n    <script>${script}</script>`,
  );
}

export const shells = (): Plugin => ({ name: 'shells', transformIndexHtml: withShells });
