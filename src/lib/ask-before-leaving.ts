/** The browser asks before this page is left, until the returned function is called. */
export function askBeforeLeaving(): () => void {
  const page = globalThis as Partial<typeof globalThis>;
  const ask = (event: BeforeUnloadEvent): void => {
    event.preventDefault();
    // Chromium before 119.
    event.returnValue = true;
  };
  page.addEventListener?.('beforeunload', ask);
  return () => page.removeEventListener?.('beforeunload', ask);
}
