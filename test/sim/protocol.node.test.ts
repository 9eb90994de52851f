import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { variants } from '../../sim/protocol/variants.ts';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

test.each(variants)('the model of a protocol knows what $name lacks', ({ model, name }) => {
  const sources = read(`../../sim/protocol/${model}.pml`) + read('../../sim/protocol/server.pml');
  expect(sources).toMatch(new RegExp(`^#ifn?def ${name}$`, 'm'));
});

test.each(variants)('the page of the models shows how $name breaks', ({ model, name, title }) => {
  const page = read('../../docs/exactly-once/model.md');
  expect(page).toContain(`### ${title}\n`);
  const picture = `img/model/${model}-${name.toLowerCase().replace(/_/g, '-')}.svg`;
  expect(page).toContain(`](../${picture})`);
  expect(read(`../../docs/${picture}`)).toContain(title);
});
