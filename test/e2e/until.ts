import type { Page } from 'playwright';
import { expect } from 'vitest';

/** How many looks at the page, at least some milliseconds each, before something will never come. */
const patience = 2000;

/** Looks at the page until it sees this. */
export type Witness = <T>(look: () => Promise<T>, wanted: T) => Promise<void>;

/** React Query tells its news in a timer, so some time passes between two looks. */
export function createWitness(page: Page, stepMs = 1): Witness {
  return async (look, wanted) => {
    const text = JSON.stringify(wanted);
    for (let looks = 0; looks < patience; looks += 1) {
      // What was seen was there, whatever comes of it before a second look.
      if (JSON.stringify(await look()) === text) return;
      await page.clock.runFor(stepMs);
    }
    expect(await look()).toEqual(wanted);
  };
}

/** Waits until an element has this text, or this value of an attribute; next to no time passes. */
export type Until = (
  selector: string,
  attribute: string | undefined,
  wanted: string,
) => Promise<void>;

export function createUntil(page: Page): Until {
  const witness = createWitness(page);
  return (selector, attribute, wanted) =>
    witness<string | null | undefined>(
      () =>
        page.evaluate(
          ([where, name]) => {
            const element = document.querySelector(where);
            return name === undefined ? element?.textContent : element?.getAttribute(name);
          },
          [selector, attribute] as const,
        ),
      wanted,
    );
}
