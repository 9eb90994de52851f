import { pagePolicies } from '../page/page-policies.ts';
import { runUser, type UserRecord } from './run-user.ts';
import type { UserJob } from './user-cells.ts';
import { readUserFigures, type UserFigures, wellFromMs } from './user-figures.ts';

/** The figures of a job's cells: one for each length of outage, or the average over all of them. */
export async function runUserJob(job: UserJob): Promise<UserFigures[]> {
  const { policy, page, outagesS, seeds, isAveraged, config } = job;
  const all: { records: UserRecord[]; wellFrom: number[] }[] = [];
  for (const outageS of outagesS) {
    const records: UserRecord[] = [];
    for (let seed = 1; seed <= seeds; seed++) {
      records.push(await runUser({ ...page, outageS, seed }, pagePolicies[policy], config));
    }
    // The average is that of the issue's own words: from recovery, whatever hangs.
    const from = isAveraged ? outageS * 1000 : wellFromMs(page, outageS);
    all.push({ records, wellFrom: records.map(() => from) });
  }
  if (!isAveraged) return all.map(({ records, wellFrom }) => readUserFigures(records, wellFrom));
  const records = all.flatMap((one) => one.records);
  return [
    readUserFigures(
      records,
      all.flatMap((one) => one.wellFrom),
    ),
  ];
}
