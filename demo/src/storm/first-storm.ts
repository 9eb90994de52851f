import type { FirstStorm, StoredStorm } from '../../../sim/lab/first-storm.ts';
import { defaultScenario } from '../../../sim/model/scenario.ts';
import stored from './first-storm.json' with { type: 'json' };
import type { PolicyName, Run, Storm } from './storm.ts';

// A run takes longer than a visitor waits for a first picture: `node sim/first-storm.ts` made it, and
// a test holds that the simulation still gives the same.
const { 'react-query': reactQuery, steadfetch }: FirstStorm = stored;

/** What is seen before anybody presses anything. */
export const firstStorm: Storm = {
  scenario: defaultScenario,
  runs: [toRun('react-query', reactQuery), toRun('steadfetch', steadfetch)],
};

function toRun(policy: PolicyName, { seconds, figures }: StoredStorm): Run {
  const { sent, asked, answered, failed, left } = seconds;
  return {
    policy,
    figures,
    seconds: sent.map((count, index) => ({
      sent: count,
      asked: asked[index] ?? 0,
      answered: answered[index] ?? 0,
      failed: failed[index] ?? 0,
      left: left[index] ?? 0,
    })),
  };
}
