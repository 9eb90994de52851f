import { sourceOf, type Variant } from './variant.ts';

/** A mechanism that a single change of a file in src switches off. */
const without = (
  name: string,
  lines: number,
  file: string,
  find: string,
  replace: string,
  heldBy?: Variant['heldBy'],
): Variant => ({ name, lines, patches: [{ file, find, replace }], ...(heldBy && { heldBy }) });

const held = (file: string, sentence: string): Variant['heldBy'] => ({ file, sentence });

/** The lines of whole files. */
const linesOf = (...files: readonly string[]): number =>
  files.reduce((sum, file) => sum + sourceOf(file).split('\n').length - 1, 0);

const admission = 'origin/admission.ts';
const health = 'origin/health/health.ts';
const endpointHealth = 'origin/health/endpoint-health.ts';
const probes = 'origin/health/probe-schedule.ts';

/** The mechanisms of src/core/origin, and what the package is without each of them. */
export const mechanisms: readonly Variant[] = [
  without(
    'health: nothing is taken for down, or paused',
    linesOf(health, endpointHealth, probes, 'origin/due.ts'),
    endpointHealth,
    'return chance <= maxChance;',
    'return chance < 0 && chance <= maxChance;',
  ),
  without(
    'endpoints: the health is of the origin alone',
    // Folding is the first 18 of where a request goes.
    linesOf(health) + 18,
    'fetch/endpoint.ts',
    "return `${method} ${normalizeEscapes(path).replace(/[^/]+/g, foldSegment) || '/'}`;",
    'return path === method ? foldSegment(path) : "one";',
  ),
  without(
    'an origin is down only if different endpoints fail',
    4,
    health,
    'origin.failed.size > 1 &&',
    'origin.failed.size > 0 &&',
    held(
      'core/react-query/beside-broken.test.tsx',
      'a first load fails once its endpoint goes on failing after another was answered, at %s, and no sooner than alone',
    ),
  ),
  without(
    'what fails beside what is answered says nothing of its origin',
    12,
    health,
    'const isNews = !!origin.outage || !isBroken;',
    'const isNews = own !== origin;',
    held(
      'core/react-query/beside-broken.test.tsx',
      'beside %i broken endpoints, six healthy queries in a row take what they take, every %i ms',
    ),
  ),
  without(
    'what has not failed is not bound by its origin',
    4,
    health,
    'if (isFollowed || (outage && hasFailed)) return this.#origin;',
    'if (isFollowed || outage) return this.#origin;',
    held(
      'core/react-query/beside-broken.test.tsx',
      'beside %i broken endpoints, six healthy queries in a row take what they take, every %i ms',
    ),
  ),
  without(
    'failures slow down what is let go',
    3,
    'origin/outcomes.ts',
    'if (this.#isOfRecovery(endpoint, sentAt) && !health.isBroken(endpoint))',
    'if (sentAt < 0 && !health.isBroken(endpoint))',
  ),
  without(
    'what is broken does not slow down what is let go',
    1,
    'origin/outcomes.ts',
    'if (this.#isOfRecovery(endpoint, sentAt) && !health.isBroken(endpoint))',
    'if (this.#isOfRecovery(endpoint, sentAt))',
    held(
      'core/origin/broken-after.test.ts',
      'an endpoint that stays broken after an outage, and fails slowly, keeps nothing else of a page waiting: %s',
    ),
  ),
  without(
    'the usual failure rate',
    10,
    endpointHealth,
    'const chance = Math.max(this.usualRate, leastRate) ** this.failures;',
    'const chance = Math.max(this.usualRate * 0, leastRate) ** this.failures;',
  ),
  without(
    'gaps between probes that grow',
    6,
    probes,
    'Math.min(longestGapMs, Math.max(shortestGapMs, outageShare * outageMs))',
    'outageMs < 0 ? longestGapMs * outageShare : shortestGapMs',
  ),
  without(
    'a last probe before a wait ends',
    9,
    probes,
    'const lastChanceAt = isLate ? Infinity : expiresAt - lastChanceMs;',
    'const lastChanceAt = isLate || expiresAt > lastChanceMs ? Infinity : 0;',
    held(
      'core/react-query/beside-broken.test.tsx',
      'and if it was an outage after all, of %s, its data come as soon as if nothing had been told',
    ),
  ),
  without(
    'background work is probed for rarely',
    12,
    probes,
    'const at = isForeground ? Math.min(plan.foregroundAt, lastChanceAt) : plan.backgroundAt;',
    'const at = plan.backgroundAt < 0 ? 0 : Math.min(plan.foregroundAt, lastChanceAt);',
  ),
  without(
    'a probe is of the endpoint that has failed least',
    4,
    'origin/wait-queue.ts',
    '      probed?.ofEndpoint ?? 0,',
    '      0,',
    held(
      'core/origin/never-worse-than-plain.test.ts',
      'down by %s: %d queries are all answered after %d ms; the first one, the whole page and the requests',
    ),
  ),
  without(
    'slow start: what was paused goes at once',
    linesOf('origin/slow-start.ts', 'origin/health/latency.ts'),
    'origin/slow-start.ts',
    'if (left === 0) return',
    'if (left >= 0) return',
  ),
  without(
    'latency as the signal of slow start',
    linesOf('origin/health/latency.ts'),
    'origin/outcomes.ts',
    'slowStart.observe(latency.isFast(endpoint, latencyMs), latencyMs);',
    'slowStart.observe(latencyMs >= 0 || latency.isFast(endpoint, latencyMs), latencyMs);',
  ),
  without(
    'the usual latency is forgotten when the network changes',
    5,
    admission,
    '    latency.forget();\n    slowStart.countFromNow();',
    '    slowStart.countFromNow();',
    held(
      'core/origin/another-network.test.ts',
      'thirty that wait for a lost Wi-Fi are all answered within 3 s over a slow mobile network: it is no server in need',
    ),
  ),
  without(
    'the end of a Retry-After is drawn',
    4,
    'origin/limits/rate-limit.ts',
    'const lateShare = 0.1;',
    'const lateShare = 0;',
  ),
];
