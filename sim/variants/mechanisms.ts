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
  files.reduce((sum, file) => sum + sourceOf(`origin/${file}`).split('\n').length - 1, 0);

const admission = 'origin/admission.ts';
const probes = 'origin/probe-schedule.ts';

/** The mechanisms of src/origin, and what the package is without each of them. */
export const mechanisms: readonly Variant[] = [
  without(
    'health: nothing is taken for down, or paused',
    linesOf('health.ts', 'vitals.ts', 'probe-schedule.ts', 'probing.ts', 'wait-queue.ts'),
    'origin/health.ts',
    'if (isDown() || chance > maxChance || failed.size < leastEndpoints) return false;',
    'if (chance >= 0) return false;',
  ),
  without(
    'endpoints: the health is of the origin alone',
    linesOf('vitals.ts', 'endpoint.ts'),
    'origin/endpoint.ts',
    "return `${method} ${path.split('/').map(fold).join('/') || '/'}`;",
    'return path === method ? fold(path) : "one";',
  ),
  without(
    'an origin is down only if different endpoints fail',
    4,
    'origin/vitals.ts',
    'createHealth(clock, random, 2, options)',
    'createHealth(clock, random, 1, options)',
  ),
  without(
    'what is down by itself says nothing of the others',
    3,
    'origin/vitals.ts',
    'const isEvidence = origin.isDown() || !own.isDown();',
    'const isEvidence = own !== undefined;',
  ),
  without(
    'the usual failure rate',
    10,
    'origin/health.ts',
    'const chance = Math.max(usualRate, leastRate) ** failures;',
    'const chance = leastRate ** failures;',
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
    'origin/probing.ts',
    'ask.risk * 1e6 + vitals.failures(ask.endpoint);',
    'ask.risk * 1e6;',
  ),
  without(
    'slow start: what was paused goes at once',
    linesOf('slow-start.ts', 'latency.ts', 'release.ts'),
    'origin/slow-start.ts',
    'isOn = count > 0;',
    'isOn = count < 0;',
  ),
  without(
    'latency as the signal of slow start',
    linesOf('latency.ts'),
    admission,
    'slowStart.observe(latency.isFast(endpoint, latencyMs), slowMs);',
    'slowStart.observe(latencyMs >= 0 || latency.isFast(endpoint, latencyMs), slowMs);',
  ),
  without(
    'the usual latency is forgotten when the network changes',
    3,
    admission,
    'if (isBack) latency.forget();',
    '',
  ),
  without(
    'the end of a Retry-After is drawn',
    4,
    'origin/rate-limit.ts',
    'const spreadShare = 0.1;',
    'const spreadShare = 0;',
  ),
  without(
    'retry budget',
    linesOf('retry-budget.ts'),
    'origin/retry-budget.ts',
    'spend: () => getState() >= 1 && charge(),',
    'spend: charge,',
  ),
];
