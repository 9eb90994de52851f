import type { Page } from 'playwright';
import { expect } from 'vitest';
import { auditContrast } from './audit-contrast.ts';
import { screens } from './open-demo.ts';

/** Every text can be read and nothing is wider than the screen, on each screen, light and dark. */
export async function expectReadable(page: Page): Promise<void> {
  for (const screen of ['desktop', 'phone', 'smallPhone'] as const) {
    await page.setViewportSize(screens[screen]);
    const overhang = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overhang, screen).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await auditContrast(page), `${screen}, ${colorScheme}`).toEqual([]);
    }
  }
}
