import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { withAddress } from '../../demo/site/address.ts';

test('with an address the demo says where it and its picture are', () => {
  const html = withAddress(readFileSync('demo/index.html', 'utf8'), 'https://a.example/demo/');
  const { head } = new DOMParser().parseFromString(html, 'text/html');
  const contentOf = (property: string) =>
    head.querySelector(`meta[property="${property}"]`)?.getAttribute('content');
  expect(contentOf('og:url')).toBe('https://a.example/demo/');
  expect(contentOf('og:image')).toBe('https://a.example/demo/storm.jpg');
});
