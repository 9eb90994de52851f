import { demoPolicy, steady } from '../steady.ts';
import { formatOptions } from './format-options.ts';
import type { Scenario } from './scenarios.ts';

/** The policy in use, as it was written and in words. */
export function PolicyNote({ scenario }: { readonly scenario: Scenario }) {
  const { factor, maxRetries, maxRetryAfterMs } = steady.policy;
  const baseMs = scenario.policy.baseMs ?? steady.policy.baseMs;
  const timeout = scenario.policy.timeout ?? steady.policy.timeout;
  const isOwn = Object.keys(scenario.policy).length > 0;
  const seconds = (ms: unknown): string => `${Number(ms) / 1000} s`;
  return (
    <section className="policy" aria-labelledby="policy-title">
      <h2 id="policy-title">The policy in use</h2>
      <p>
        At most {maxRetries} retries. The first wait is {seconds(baseMs / 2)} to {seconds(baseMs)},
        and each further one {factor} times as long. An attempt may take {seconds(timeout)}. A
        Retry-After of up to {seconds(maxRetryAfterMs)} is respected.
      </p>
      <dl>
        <dt>App</dt>
        <dd>
          <code>policy: {formatOptions(demoPolicy)}</code>
        </dd>
        <dt>This query</dt>
        <dd>{isOwn ? <code>policy: {formatOptions(scenario.policy)}</code> : 'the same'}</dd>
      </dl>
    </section>
  );
}
