import type { OriginOptions } from 'steadfetch';

/** No origin is taken for down: for tests of the policy alone. */
export const noOrigin = { health: false } as const satisfies OriginOptions;
