import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axeCore from 'axe-core';
import type { Page } from 'playwright';
import type { Visitor } from './visitor.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8');

/** What axe finds wrong with a page: the rule, and where. */
export async function auditPage(page: Page): Promise<string[]> {
  await page.evaluate(source);
  return page.evaluate(async () => {
    const { axe } = window as unknown as { axe: typeof axeCore };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
    );
  });
}

/** The same, where time stands still: axe takes some of it. */
export async function auditInStill({
  page,
  pass,
}: Pick<Visitor, 'page' | 'pass'>): Promise<string[]> {
  let isDone = false;
  const found = auditPage(page).finally(() => {
    isDone = true;
  });
  while (!isDone) await pass(1);
  return found;
}
