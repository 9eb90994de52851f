/** The prefix of the names in `sessionStorage` under which forms of this tab store their submissions. */
export const formPrefix = 'steadfetch.form.';

/** Removes all submissions stored for this tab, including those of forms that this page has not opened. */
export function forgetTab(): void {
  try {
    const { sessionStorage } = globalThis as Partial<typeof globalThis>;
    for (const name of Object.keys(sessionStorage ?? {}))
      if (name.startsWith(formPrefix)) sessionStorage?.removeItem(name);
  } catch {
    // Access is forbidden, so nothing was stored.
  }
}
