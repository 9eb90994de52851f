/** What the names begin with that forms of this tab keep their submissions by. */
export const formPrefix = 'steadfetch.form.';

/** Forgets the submissions that this tab keeps, also those of forms that this page has not opened. */
export function forgetTab(): void {
  try {
    const { sessionStorage } = globalThis as Partial<typeof globalThis>;
    for (const name of Object.keys(sessionStorage ?? {}))
      if (name.startsWith(formPrefix)) sessionStorage?.removeItem(name);
  } catch {
    // Forbidden: then there is nothing in it.
  }
}
