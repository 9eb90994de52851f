/** Whether it is worth to look for RateLimit in an answer: reading headers costs something. */
export interface LimitLook {
  /** In every answer of an origin that sends it, else now and then. */
  readonly isDue: () => boolean;
  /** An answer was looked at. */
  readonly saw: (isThere: boolean) => void;
}

/** After so many answers without it, one in as many is looked at. */
const enough = 16;

export function createLimitLook(): LimitLook {
  let skipped = 0;
  let every = 1;
  return {
    isDue: () => skipped++ % every === 0,
    saw(isThere) {
      // One that has told of it lately will again; so will the rest of the answers after one without.
      if (isThere) skipped = 0;
      every = skipped > enough ? enough : 1;
    },
  };
}
