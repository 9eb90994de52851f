/** How the server fails during the outage. */
export type OutageKind =
  | 'none'
  /** Every request is answered at once with 503. */
  | '503'
  /** The same, with Retry-After = the whole seconds until recovery. */
  | 'retry-after'
  /** Every connection breaks at once. */
  | 'drop'
  /** Nothing is answered, ever: what is under way is lost, too. */
  | 'hang'
  /** Everything is answered 3 s late. */
  | 'slow'
  /** Half of the capacity is gone. */
  | 'half-capacity'
  /** Half of the requests are answered with 503. */
  | 'half-errors'
  /** Half of the endpoints answer 503. */
  | 'half-endpoints';

/** One cell of the experiment. Times are in seconds of virtual time. */
export interface Scenario {
  readonly kind: OutageKind;
  readonly outageS: number;
  readonly warmUpS: number;
  /** How long it goes on after the outage. */
  readonly afterS: number;
  /** When a client gives up on an attempt. */
  readonly timeoutS: number;
  readonly tabs: number;
  readonly tabsPerBrowser: number;
  /** How often each tab asks, per second (Poisson). */
  readonly rate: number;
  /**
   * Page loads: nobody stays in a tab, but so many queries as all tabs ask come in pages of this
   * size, each of them a fresh one; 0: tabs that stay.
   */
  readonly pageSize: number;
  /** How long users of a page load wait before they leave, on average (exponential); 0: for ever. */
  readonly leaveS: number;
  /** 1: what is asked for is background work; 0: somebody waits for it. */
  readonly background: number;
  /** How many endpoints there are; each ask is for one of them. */
  readonly endpoints: number;
  /** How many of them always answer 503; they are not counted. */
  readonly brokenEndpoints: number;
  /** Arrivals ÷ capacity of the server when all is well. */
  readonly load: number;
  /** How much work the server lets wait, in seconds; beyond, it answers 503 at once. */
  readonly queueS: number;
  /** What an answer takes beside the server's work, which goes on meanwhile: it waits for others. */
  readonly waitS: number;
  /** Each request fails with 503 with this probability, at all times. */
  readonly errors: number;
  /** All tabs ask at this moment, counted from recovery: a push, a deploy. */
  readonly pushAtS: number | undefined;
  readonly seed: number;
}

export const defaultScenario: Scenario = {
  kind: '503',
  outageS: 30,
  warmUpS: 30,
  afterS: 80,
  timeoutS: 10,
  tabs: 1000,
  tabsPerBrowser: 1,
  rate: 0.2,
  pageSize: 0,
  leaveS: 0,
  background: 0,
  endpoints: 1,
  brokenEndpoints: 0,
  load: 0.7,
  queueS: 4,
  waitS: 0,
  errors: 0,
  pushAtS: undefined,
  seed: 1,
};

/** The times that matter, in milliseconds since the start. */
export interface Milestones {
  readonly outageMs: number;
  readonly recoveryMs: number;
  readonly endMs: number;
}

export function milestones({ warmUpS, outageS, afterS }: Scenario): Milestones {
  const recoveryS = warmUpS + outageS;
  return {
    outageMs: warmUpS * 1000,
    recoveryMs: recoveryS * 1000,
    endMs: (recoveryS + afterS) * 1000,
  };
}
