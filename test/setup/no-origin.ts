import type { OriginOptions } from 'steadfetch';

/** No origin is taken for down, here or by others, and no retry is refused: for tests of the policy alone. */
export const noOrigin = {
  health: false,
  budget: false,
  share: false,
} as const satisfies OriginOptions;
