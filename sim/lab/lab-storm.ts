import { type Figures, readFigures } from '../figures/figures.ts';
import type { RunRecord } from '../figures/record.ts';
import { milestones, type Scenario } from '../model/scenario.ts';
import { policies, type PolicyName } from '../policies/by-name.ts';
import { runCell } from '../run/run-cell.ts';

/** What a second of a storm has shown: of what was asked in the outage, all there is by its end. */
export interface StormSecond {
  /** Requests that arrived at the server in this second. */
  readonly sent: number;
  readonly asked: number;
  readonly answered: number;
  /** Those who asked have got an error. */
  readonly failed: number;
  /** Those who asked have left without an answer. */
  readonly left: number;
}

/** A storm that can be drawn second by second. */
export interface LabStorm {
  readonly seconds: readonly StormSecond[];
  readonly figures: Figures;
}

/** Runs one policy through one storm, and shows each second as soon as it is over. */
export async function runLabStorm(
  policy: PolicyName,
  scenario: Scenario,
  onSecond?: (second: StormSecond) => void,
): Promise<LabStorm> {
  const seconds: StormSecond[] = [];
  const readSecond = createReader(scenario);
  const record = await runCell(scenario, policies[policy], {}, (soFar, nowMs) => {
    const second = readSecond(soFar, nowMs);
    seconds.push(second);
    onSecond?.(second);
  });
  return { seconds, figures: readFigures(scenario, record) };
}

function createReader(scenario: Scenario): (record: RunRecord, nowMs: number) => StormSecond {
  const { outageMs, recoveryMs } = milestones(scenario);
  let counted = 0;
  return ({ operations, arrivalsMs }, nowMs) => {
    const before = counted;
    // What has been sent arrives a little later.
    while ((arrivalsMs[counted] ?? Infinity) < nowMs) counted++;
    let [asked, answered, failed, left] = [0, 0, 0, 0];
    for (const { askedMs, settledMs, leftMs, isOk } of operations) {
      if (askedMs < outageMs || askedMs >= recoveryMs) continue;
      asked++;
      if (leftMs !== undefined) left++;
      else if (settledMs === undefined) continue;
      else if (isOk) answered++;
      else failed++;
    }
    return { sent: counted - before, asked, answered, failed, left };
  };
}
