import type { Page } from 'playwright';

/** Which of these lie on each other, though neither is in the other: their texts, in pairs. */
export const findOverlaps = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate((which) => {
    const shown = [...document.querySelectorAll(which)].filter(
      (element) => element.checkVisibility() && !element.closest('.visually-hidden'),
    );
    const nameOf = (element: Element): string =>
      `${element.className || element.tagName} “${element.textContent.slice(0, 20)}”`;
    return shown.flatMap((one, index) =>
      shown.slice(index + 1).flatMap((other) => {
        if (one.contains(other) || other.contains(one)) return [];
        const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
        const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        return width > 0.5 && height > 0.5 ? [`${nameOf(one)}, ${nameOf(other)}`] : [];
      }),
    );
  }, selector);
