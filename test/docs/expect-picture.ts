import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { draw, type Note, type Picture } from './draw.ts';

/**
 * Compares a picture of the docs with what has been recorded. What was recorded is asserted by the
 * test itself, in words; `DRAW=1 npx vitest run --config test/vitest.config.ts --project unit
 * test/docs` then draws it.
 */
export function expectPicture(name: string, picture: Picture): void {
  const file = `docs/img/${name}.svg`;
  const drawn = draw(picture);
  if (process.env['DRAW']) writeFileSync(file, drawn);
  expect(readFileSync(file, 'utf8')).toBe(drawn);
}

/** A measure that says how long it is. */
export function measure(fromMs: number, toMs: number, words: string): Note {
  return { fromMs, toMs, text: `${Math.round((toMs - fromMs) / 100) / 10} s: ${words}` };
}
