import type { OutageKind } from '../../../sim/model/scenario.ts';
import { names } from '../../../sim/report/names.ts';
import { formatCount, formatNumber, formatShare } from './format.ts';
import {
  countsAt,
  type Counts,
  type PolicyName,
  reachedS,
  type Scenario,
  spanOf,
  type Storm,
} from './storm.ts';

const nameOf = (policy: PolicyName): string => names[policy][0];

/** How long the first reaction of the tabs is what there is to see. */
const reactionS = 6;

/** What is going on at a time, in a sentence or two. */
export function describeMoment(storm: Storm, atS: number): string {
  const { scenario, runs } = storm;
  const span = spanOf(scenario);
  const rival = countsAt(runs[0], span, atS);
  const steadfetch = countsAt(runs[1], span, atS);
  const name = nameOf(runs[0].policy);
  if (atS < span.outageS) return `${describeUsers(scenario)}. The server keeps up.`;
  if (atS < span.outageS + Math.min(reactionS, scenario.outageS / 2)) {
    return 'The server goes down. Every tab that gets no answer asks again.';
  }
  if (atS < span.recoveryS) {
    return (
      `${name}: ${formatCount(rival.sent)} requests, and ${formatCount(rival.failed)} errors shown. ` +
      `Steadfetch: ${formatCount(steadfetch.sent)} requests, and ${formatCount(steadfetch.failed)} errors.`
    );
  }
  if (atS >= span.toS && reachedS(storm) >= span.toS) return describeResult(storm);
  return `The server is back. ${name}: ${describeShares(rival)}. Steadfetch: ${describeShares(steadfetch)}.`;
}

/** What has become of what was asked for. */
function describeShares({ asked, answered, waiting, failed, left }: Counts): string {
  const parts = [
    `${formatShare(answered, asked)} answered`,
    waiting > 0 && `${formatShare(waiting, asked)} waiting`,
    failed > 0 && `${formatShare(failed, asked)} an error`,
    left > 0 && `${formatShare(left, asked)} gone`,
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/** What the figures say in the end. */
function describeResult(storm: Storm): string {
  const [rival, own] = countBoth(storm);
  const name = nameOf(storm.runs[0].policy);
  return (
    `${name}: ${formatCount(rival.sent)} requests while the server was down, ` +
    `${formatShare(rival.answered, rival.asked)} of what people asked for answered. ` +
    `Steadfetch: ${formatCount(own.sent)} requests, ${formatShare(own.answered, own.asked)} answered.`
  );
}

const countBoth = ({ scenario, runs }: Storm): readonly [Counts, Counts] => {
  const span = spanOf(scenario);
  const [rival, own] = runs;
  return [countsAt(rival, span, span.toS), countsAt(own, span, span.toS)];
};

/**
 * When each is quick again, also where the rival is sooner: whoever has let more people down has
 * less left to answer.
 */
export function describePrice(storm: Storm): string {
  const [rival, own] = countBoth(storm);
  const name = nameOf(storm.runs[0].policy);
  const [theirs, ours] = [rival.promptAfterS ?? Infinity, own.promptAfterS ?? Infinity];
  const after = (seconds: number): string =>
    seconds === Infinity ? 'not in the time shown' : `${seconds} s after the outage`;
  if (theirs === ours) {
    return ours === Infinity
      ? 'With neither is the server fast for everybody again in the time shown.'
      : `With both, the server is fast for everybody again ${after(ours)}.`;
  }
  const both = `fast for everybody again ${after(ours)}, with ${name} ${after(theirs)}`;
  return theirs < ours && rival.answered < own.answered
    ? `The price: Steadfetch leaves the server more people to answer. It is ${both}.`
    : `With Steadfetch the server is ${both}.`;
}

const outages: Readonly<Record<OutageKind, string>> = {
  none: 'no outage',
  '503': 'a server that answers 503',
  'retry-after': 'a server that answers 503 and says when to come back',
  drop: 'connections that break',
  hang: 'a server that does not answer',
  slow: 'a server that is 3 s late',
  'half-capacity': 'a server with half of its capacity',
  'half-errors': 'a server that answers every other request with 503',
  'half-endpoints': 'a server half of whose endpoints answer 503',
};

/** Under which conditions a storm is what it is. */
export function describeConditions({ scenario }: Storm): string {
  const { outageS, kind, load, timeoutS, seed } = scenario;
  return (
    `${describeUsers(scenario)}. ${outageS} s of ${outages[kind]}, which has ` +
    `${Math.round(100 * (1 - load))}% of its capacity to spare when all is well. ` +
    `Each attempt may take ${timeoutS} s. Both libraries run as they are, on a simulated clock; seed ${seed}.`
  );
}

function describeUsers({ tabs, rate, pageSize, leaveS }: Scenario): string {
  if (pageSize === 0) {
    return `${formatCount(tabs)} open tabs, each asks for something every ${formatNumber(1 / rate)} s`;
  }
  const loads = formatNumber((tabs * rate) / pageSize);
  return `${loads} people a second open a page that asks for ${pageSize} things, and wait ${leaveS} s on average`;
}
