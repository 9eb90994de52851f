import { renderToString } from 'react-dom/server';
import { afterEach, expect, test } from 'vitest';
import { withShells } from '../../demo/site/shells.tsx';
import { entries, type Entry, parseHash, Shell } from '../../demo/src/shell.tsx';

afterEach(() => {
  location.hash = '';
  document.body.innerHTML = '';
});

/** What the HTML shows at this hash, before the app has come. */
function shownAt(hash: string): string | undefined {
  location.hash = hash;
  const [html = '', script = ''] = withShells('<div id="root"></div>').split('<script>');
  document.body.innerHTML = html;
  const run = document.createElement('script');
  run.textContent = script.replace('</script>', '');
  document.body.append(run);
  return document.querySelector('#root')?.innerHTML;
}

/** What the app renders first. */
function renderedAt(hash: string): string {
  const { name } = parseHash(hash);
  const { head }: Entry = entries[name];
  const root = document.createElement('div');
  root.innerHTML = renderToString(<Shell name={name} head={head} isBusy />);
  return root.innerHTML;
}

const hashes = ['', '#', '#/', '#/storm', '#/read', '#/read/404', '#/order', '#/send', '#/tabs'];

test.each([...hashes, '#/nowhere', '#/constructor', '#nowhere'])(
  'at "%s" the HTML has the frame that the app renders first',
  (hash) => {
    expect(shownAt(hash)).toBe(renderedAt(hash));
  },
);

test('a frame cannot end the script that holds it', () => {
  const [, script = ''] = withShells('<div id="root"></div>').split('<script>');
  expect(script.split('</script>')).toHaveLength(2);
  expect(script).not.toContain('<!--');
});
