import { costOf } from '../../../../sim/run/job.ts';
import { defaultScenario } from '../../../../sim/model/scenario.ts';
import type { UserScenario } from '../../../../sim/user/user-scenario.ts';
import type { PolicyName, Scenario } from '../storm.ts';

/** Those that Steadfetch can be set beside. */
export const rivals = [
  'react-query',
  'ky',
  'axios-retry',
  'cockatiel',
  'full-jitter-budget',
  'none',
] as const satisfies readonly PolicyName[];

export type Rival = (typeof rivals)[number];

/** What a visitor can choose. */
export interface LabSettings {
  readonly tabs: number;
  /** How often each of them asks. */
  readonly everyS: number;
  /** Tabs stay open and ask again and again, or people open a page that asks for six things. */
  readonly behaviour: 'stay' | 'load';
  readonly kind: '503' | 'hang' | 'drop' | 'half-endpoints';
  readonly outageS: number;
  /** How much of its capacity the server needs when all is well, in percent. */
  readonly loadPercent: number;
  readonly rival: Rival;
  readonly seed: number;
}

/** Those of the first storm. */
export const firstSettings: LabSettings = {
  tabs: 1000,
  everyS: 5,
  behaviour: 'stay',
  kind: '503',
  outageS: 30,
  loadPercent: 70,
  rival: 'react-query',
  seed: 1,
};

/** What a number may be. */
export const limits = {
  tabs: [1, 5000],
  everyS: [1, 120],
  outageS: [1, 120],
  loadPercent: [5, 95],
  seed: [1, 9999],
} as const satisfies Partial<Record<keyof LabSettings, readonly [number, number]>>;

/** The slowest server that there is: where few ask, it is less busy than was chosen. */
const longestWorkS = 0.05;

/** Near its limit a server needs longer to come back. */
const afterSOf = (loadPercent: number): number => (loadPercent > 80 ? 110 : 80);

const pageLoads = { pageSize: 6, leaveS: 20, endpoints: 6 } as const;

export function toScenario(settings: LabSettings): Scenario {
  const { tabs, everyS, behaviour, kind, outageS, loadPercent, seed } = settings;
  const rate = 1 / everyS;
  return {
    ...defaultScenario,
    ...(kind === 'half-endpoints' && { endpoints: 4 }),
    ...(behaviour === 'load' && pageLoads),
    tabs,
    rate,
    kind,
    outageS,
    load: Math.min(loadPercent / 100, tabs * rate * longestWorkS),
    afterS: afterSOf(loadPercent),
    seed,
  };
}

/** How the one page is down that one user has before them; undefined: it is only partly. */
const userKinds = {
  '503': '503',
  hang: 'hang',
  drop: 'reset',
  'half-endpoints': undefined,
} as const;

/** The same outage before one fresh page, which asks for six things at once. */
export function toUserScenario({ kind, outageS, seed }: LabSettings): UserScenario | undefined {
  const userKind = userKinds[kind];
  if (userKind === undefined) return undefined;
  return {
    kind: userKind,
    outageS,
    seed,
    queries: 6,
    order: 'at once',
    page: 'fresh',
    timeoutMs: defaultScenario.timeoutS * 1000,
  };
}

/** How long a unit of cost takes in a browser of today on an ordinary computer. */
export const usualMsPerCost = 0.16;

/** How long a run will take. */
export const estimateMs = (settings: LabSettings, msPerCost: number): number =>
  costOf({ policy: settings.rival, scenario: toScenario(settings) }) * msPerCost;
