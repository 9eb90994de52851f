import { systemClock } from '../core/lib/clock.ts';
import { Api } from './api.ts';
import { calibrate, Evidence } from './evidence.ts';
import { CannotRun, CannotTell, type Finding, skipped, unknown } from './finding.ts';
import { needs } from './needs.ts';
import { groups, requirements } from './requirements/all.ts';
import type { Check, Requirement } from './requirements/requirement.ts';
import type { Settings } from './settings.ts';

/** A requirement, and the result of trying it. */
export interface Result {
  readonly id: string;
  readonly group: string;
  readonly level: 'must' | 'should';
  readonly sentence: string;
  readonly source: string;
  readonly finding: Finding;
}

export interface Report {
  readonly results: readonly Result[];
  readonly requests: number;
  readonly elapsedMs: number;
  /** Whether the answers show which operation they belong to, and whether effects were counted. */
  readonly answersTell: boolean;
  readonly effectsCounted: boolean;
  /** Why the check ended before its last requirement. */
  readonly stopped?: string;
}

/** Receives the requirement that is about to be tried. */
export type OnProgress = (id: string, index: number, total: number) => void;

async function decide(requirement: Requirement, check: Check): Promise<Finding> {
  const { appliesTo, needs: needed = [], run } = requirement;
  if (appliesTo && !appliesTo(check.declared)) return skipped('not declared');
  const lacking = needed.find((need) => !needs[need].isGiven(check.settings));
  if (lacking) return skipped(`needs ${needs[lacking].option}`);
  try {
    return await run(check);
  } catch (error) {
    if (error instanceof CannotTell) return unknown(error.message);
    throw error;
  }
}

/** After an answer that never came: the server itself may be gone. */
async function requireAlive({ api }: Check, id: string): Promise<void> {
  const { failure } = await api.send(api.operation());
  if (failure !== undefined)
    throw new CannotRun(`The server does not answer any more (${failure}), since ${id}.`);
}

/**
 * Tries every requirement against an API, one after the other.
 *
 * @throws CannotRun when the API cannot be checked at all.
 */
export async function runCheck(settings: Settings, onProgress: OnProgress): Promise<Report> {
  const startMs = systemClock.now();
  const api = new Api(settings);
  const evidence = new Evidence(settings);
  const known = new Map<string, Promise<unknown>>();
  const check: Check = {
    settings,
    declared: settings.declared,
    api,
    evidence,
    once<T>(name: string, work: () => Promise<T>): Promise<T> {
      const running = known.get(name) ?? work();
      known.set(name, running);
      return running as Promise<T>;
    },
  };
  await calibrate(api, evidence, settings);
  const results: Result[] = [];
  const end = (stopped?: string): Report => ({
    results,
    requests: api.requests,
    elapsedMs: systemClock.now() - startMs,
    answersTell: evidence.canTell,
    effectsCounted: evidence.canCount,
    ...(stopped === undefined ? {} : { stopped }),
  });
  for (const { title, requirements: ofGroup } of groups) {
    for (const requirement of ofGroup) {
      if (settings.only.length > 0 && !settings.only.includes(requirement.id)) continue;
      const { id, level, sentence, source } = requirement;
      onProgress(id, results.length, requirements.length);
      try {
        const finding = await decide(requirement, check);
        results.push({ id, group: title, level, sentence, source, finding });
        if (finding.kind === 'violated' && finding.seen.includes('nothing ('))
          await requireAlive(check, id);
      } catch (error) {
        if (!(error instanceof CannotRun)) throw error;
        return end(error.message);
      }
    }
  }
  return end();
}
