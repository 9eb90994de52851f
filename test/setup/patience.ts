/** What a test may take. It only bounds a hang: no test depends on how fast a machine is. */
export const testTimeoutMs = 600_000;

/** What one wait within a test may take: nearly as long, so that a hang says what it has waited for. */
export const patienceMs = 540_000;
