import { renderToString } from 'react-dom/server';
import type { Plugin } from 'vite';
import { entries, type Entry, type Name, pageOf, Shell } from '../src/shell.tsx';

/** The frame of each page, as it is before the page is loaded. */
function renderShells(): Readonly<Record<Name, string>> {
  const render = ([name, { head }]: readonly [string, Entry]): readonly [string, string] => [
    name,
    renderToString(<Shell name={name as Name} head={head} isBusy />),
  ];
  return Object.fromEntries(Object.entries<Entry>(entries).map(render)) as Record<Name, string>;
}

/**
 * Puts the frames into the HTML, so that they are there before any script has come. The hash is known to the
 * browser alone, which chooses before the first picture.
 */
export function withShells(html: string): string {
  const { storm, ...others } = renderShells();
  // In a script, nothing may look like its end.
  const literal = JSON.stringify({ storm: '', ...others }).replaceAll('<', '\\u003c');
  const script = `{
  const shells = ${literal};
  const shell = shells[(${pageOf.toString()})(location.hash, Object.keys(shells))];
  if (shell) document.getElementById('root').innerHTML = shell;
}`;
  return html.replace(
    '<div id="root"></div>',
    () => `<div id="root">${storm}</div>\n    <script>${script}</script>`,
  );
}

export const shells = (): Plugin => ({ name: 'shells', transformIndexHtml: withShells });
