import { sourceOf, type Variant } from './variant.ts';

/** A mechanism that a single change of a file in src switches off. */
const without = (
  name: string,
  lines: number,
  file: string,
  find: string,
  replace: string,
): Variant => ({ name, lines, patches: [{ file, find, replace }] });

/** The lines of whole files. */
const linesOf = (...files: readonly string[]): number =>
  files.reduce((sum, file) => sum + sourceOf(file).split('\n').length - 1, 0);

const admission = 'origin/admission.ts';
const health = 'origin/health.ts';
const probes = 'origin/probe-schedule.ts';

/** The mechanisms of src/origin, and what the package is without each of them. */
export const mechanisms: readonly Variant[] = [
  without(
    'health: nothing is taken for down, or paused',
    linesOf('origin/health.ts', 'origin/probe-schedule.ts', 'origin/wait-queue.ts'),
    health,
    'if (isDown(health) || chance > maxChance || isOne) return false;',
    'if (chance >= 0) return false;',
  ),
  without(
    'endpoints: the health is of the origin alone',
    // Folding is the first 18 of where a request goes.
    linesOf('origin/health.ts') + 18,
    'fetch/endpoint.ts',
    "return `${method} ${path.split('/').map(foldSegment).join('/') || '/'}`;",
    'return path === method ? foldSegment(path) : "one";',
  ),
  without(
    'an origin is down only if different endpoints fail',
    4,
    health,
    'const isOne = health === origin && failed.size < 2;',
    'const isOne = health === origin && failed.size < 1;',
  ),
  without(
    'the failures of an endpoint that is down by itself do not count against its origin',
    2,
    health,
    'const saysMore = isDown(origin) || !isDown(own);',
    'const saysMore = own !== undefined;',
  ),
  without(
    'the usual failure rate',
    10,
    health,
    'const chance = Math.max(usualRate, leastRate) ** health.failures;',
    'const chance = Math.max(usualRate * 0, leastRate) ** health.failures;',
  ),
  without(
    'gaps between probes that grow',
    6,
    probes,
    'Math.min(longestGapMs, Math.max(shortestGapMs, outageShare * (now - beganAt)))',
    'now < beganAt ? longestGapMs * outageShare : shortestGapMs',
  ),
  without(
    'a last probe before a wait ends',
    9,
    probes,
    'const lastChanceAt = isLate ? Infinity : expiresAt - lastChanceMs;',
    'const lastChanceAt = isLate || expiresAt > lastChanceMs ? Infinity : 0;',
  ),
  without(
    'an outage soon after another one goes on with its gaps',
    6,
    probes,
    'if (now - closedAt > sameMs) {',
    'if (now - closedAt > sameMs || now > 0) {',
  ),
  without(
    'background work is probed for rarely',
    12,
    probes,
    'const at = isForeground ? Math.min(foregroundAt, lastChanceAt) : backgroundAt;',
    'const at = backgroundAt < 0 ? backgroundAt : Math.min(foregroundAt, lastChanceAt);',
  ),
  without(
    'a probe is of the endpoint that has failed least',
    4,
    'origin/due.ts',
    'risk * 1e6 + health.failures(endpoint);',
    'risk * 1e6 + 0 * health.failures(endpoint);',
  ),
  without(
    'slow start: what was paused goes at once',
    linesOf('origin/slow-start.ts', 'origin/latency.ts'),
    'origin/slow-start.ts',
    'this.#phase = pace.left ?',
    'this.#phase = pace.left < 0 ?',
  ),
  without(
    'latency as the signal of slow start',
    linesOf('origin/latency.ts'),
    'origin/outcomes.ts',
    'slowStart.observe(latency.isFast(endpoint, latencyMs), latencyMs);',
    'slowStart.observe(latencyMs >= 0 || latency.isFast(endpoint, latencyMs), latencyMs);',
  ),
  without(
    'the usual latency is forgotten when the network changes',
    5,
    admission,
    'if (this.#wasOffline && !isOffline) {',
    'if (this.#wasOffline && !isOffline && isOffline) {',
  ),
  without(
    'the end of a Retry-After is drawn',
    4,
    'origin/rate-limit.ts',
    'const spreadShare = 0.1;',
    'const spreadShare = 0;',
  ),
];
