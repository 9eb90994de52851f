import type { Mechanism } from './mechanism.ts';

/** The mechanisms of src/origin, and what the package is without each of them. */
export const mechanisms: readonly Mechanism[] = [];
