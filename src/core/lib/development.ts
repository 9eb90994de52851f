/**
 * Runs a check or a warning in development. In production this function is empty: minifiers drop the call, and the code
 * that only its argument uses.
 */
export function inDevelopment(work: () => void): void {
  if (process.env.NODE_ENV !== 'production') work();
}
