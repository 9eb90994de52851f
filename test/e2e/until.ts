import type { Page } from 'playwright';
import { expect } from 'vitest';

/** How many looks at the page, at least some milliseconds each, before something will never come. */
const patience = 2000;

/** Waits until an element has this text, or this value of an attribute; next to no time passes. */
export type Until = (
  selector: string,
  attribute: string | undefined,
  wanted: string,
) => Promise<void>;

/** React Query tells its news in a timer, so a millisecond passes between two looks. */
export function createUntil(page: Page): Until {
  return async (selector, attribute, wanted) => {
    const look = (): Promise<string | null | undefined> =>
      page.evaluate(
        ([where, name]) => {
          const element = document.querySelector(where);
          return name === undefined ? element?.textContent : element?.getAttribute(name);
        },
        [selector, attribute] as const,
      );
    for (let looks = 0; looks < patience && (await look()) !== wanted; looks += 1) {
      await page.clock.runFor(1);
    }
    expect(await look()).toBe(wanted);
  };
}
