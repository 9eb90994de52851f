import { milestones, type Scenario } from '../model/scenario.ts';
import { firstLasting } from './first-lasting.ts';
import type { AskedOperation, RunRecord } from './record.ts';
import { spareCapacityBound } from './spare-capacity.ts';

/** What one run showed. Shares are in [0, 1]; NaN where there was nothing to count. */
export interface Figures {
  readonly operations: number;
  readonly requests: number;
  /** Requests that arrived ÷ operations asked, while the server was out. */
  readonly outageRatio: number;
  readonly wholeRatio: number;
  /** Requests that arrived while the server was out. */
  readonly outageRequests: number;
  /** The second after recovery from which on 99 % of what is asked ends well; null: never. */
  readonly endWellFromS: number | null;
  /** The same for being answered within 1 s. */
  readonly promptFromS: number | null;
  /** Of what was asked during the outage. */
  readonly askedInOutageOk: number;
  /** Of what was asked during the outage, was not decided at recovery, and was waited for. */
  readonly stillWaitingOk: number;
  readonly stillWaiting: number;
  /** What spare capacity lets end well of what was asked during the outage. */
  readonly spareBound: number;
  readonly outageOkOfBound: number;
  /** After recovery, against what arrives when all is well. */
  readonly peak100Ms: number;
  readonly peak1S: number;
  readonly failed: number;
  readonly failedInOutage: number;
  readonly failedAfterRecovery: number;
  readonly p99Ms: number;
  readonly medianMs: number;
}

export function readFigures(scenario: Scenario, { operations, arrivalsMs }: RunRecord): Figures {
  const { outageMs, recoveryMs, endMs } = milestones(scenario);
  const steadyPerMs = (scenario.tabs * scenario.rate) / 1000;
  const asked = operations.filter(({ askedMs }) => askedMs < endMs);
  const arrived = arrivalsMs.filter((atMs) => atMs < endMs);
  const inOutage = (atMs: number): boolean => atMs >= outageMs && atMs < recoveryMs;
  // Who leaves counts as somebody who has asked, and neither as served nor as let down.
  const stayed = asked.filter(({ leftMs }) => leftMs === undefined);
  const askedInOutage = stayed.filter(({ askedMs }) => inOutage(askedMs));
  const stillWaiting = askedInOutage.filter(
    ({ settledMs }) => settledMs === undefined || settledMs >= recoveryMs,
  );
  const after = stayed.filter(({ askedMs }) => askedMs >= recoveryMs);
  const peak = (binMs: number): number => {
    const bins = new Map<number, number>();
    for (const atMs of arrived) {
      if (atMs < recoveryMs) continue;
      const bin = Math.floor((atMs - recoveryMs) / binMs);
      bins.set(bin, (bins.get(bin) ?? 0) + 1);
    }
    return Math.max(0, ...bins.values()) / (steadyPerMs * binMs);
  };
  const seconds = Math.floor((endMs - recoveryMs) / 1000);
  const secondOf = ({ askedMs }: AskedOperation): number =>
    Math.floor((askedMs - recoveryMs) / 1000);
  const durations = stayed
    .filter(isOk)
    .map(({ askedMs, settledMs = Infinity }) => settledMs - askedMs)
    .toSorted((a, b) => a - b);
  const quantile = (q: number): number => durations[Math.floor(q * durations.length)] ?? NaN;
  const bound = spareCapacityBound(scenario);
  const askedInOutageOk = share(askedInOutage, isOk);

  return {
    operations: asked.length,
    requests: arrived.length,
    outageRatio:
      arrived.filter(inOutage).length / asked.filter(({ askedMs }) => inOutage(askedMs)).length,
    outageRequests: arrived.filter(inOutage).length,
    wholeRatio: arrived.length / asked.length,
    endWellFromS: firstLasting(after, secondOf, seconds, isOk),
    promptFromS: firstLasting(
      after,
      secondOf,
      seconds,
      (operation) =>
        isOk(operation) && (operation.settledMs ?? Infinity) - operation.askedMs <= 1000,
    ),
    askedInOutageOk,
    stillWaitingOk: share(stillWaiting, isOk),
    stillWaiting: stillWaiting.length,
    spareBound: bound,
    outageOkOfBound: askedInOutageOk / bound,
    peak100Ms: peak(100),
    peak1S: peak(1000),
    failed: share(stayed, (operation) => !isOk(operation)),
    failedInOutage: 1 - askedInOutageOk,
    failedAfterRecovery: share(after, (operation) => !isOk(operation)),
    p99Ms: quantile(0.99),
    medianMs: quantile(0.5),
  };
}

const isOk = ({ isOk: ok }: AskedOperation): boolean => ok === true;

function share<T>(items: readonly T[], test: (item: T) => boolean): number {
  return items.filter(test).length / items.length;
}
