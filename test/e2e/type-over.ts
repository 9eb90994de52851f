import type { Locator } from 'playwright';

/**
 * Types a text over what is in a field, key by key.
 * Playwright's `fill` sets the value from within the page in Firefox, and React does not see that as a change.
 */
export async function typeOver(field: Locator, text: string): Promise<void> {
  await field.press('ControlOrMeta+a');
  await field.pressSequentially(text);
}
