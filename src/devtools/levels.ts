import {
  presets,
  type Decision,
  type Failure,
  type FailureReport,
  type Operation,
  type Policy,
  type PolicyOptions,
} from '../core/internal.ts';

/** An option behind a decision, and where it was set. */
export interface DecidingOption {
  readonly name: string;
  readonly value: string;
  /** Where it was set: the call, the query, the API, the instance, or the default. */
  readonly level: string;
}

type OptionName = keyof Policy;

/** The options behind each stop reason. */
const stops: Readonly<Partial<Record<Decision['reason'], readonly OptionName[]>>> = {
  'max-retries': ['maxRetries'],
  deadline: ['deadlineMs'],
  'retry-after': ['maxRetryAfterMs'],
  'should-retry': ['shouldRetry'],
  'paused-too-long': ['maxPauseMs', 'whenDown'],
};

function optionsBehind(failure: Failure, decision: Decision): readonly OptionName[] {
  const late: readonly OptionName[] = failure.kind === 'timeout' ? ['timeout'] : [];
  if (decision.kind === 'stop') return [...late, ...(stops[decision.reason] ?? [])];
  const isAsked = failure.kind === 'http' && failure.retryAfterMs !== undefined;
  const own: readonly OptionName[] = decision.reason === 'should-retry' ? ['shouldRetry'] : [];
  const wait: readonly OptionName[] = isAsked
    ? ['maxRetryAfterMs']
    : decision.delayMs > 0
      ? ['backoff', 'baseMs', 'factor', 'capMs']
      : ['whenDown'];
  return [...late, ...own, 'maxRetries', ...wait];
}

const whose = { query: 'this query', mutation: 'this mutation', call: 'this retry()' } as const;

/** The options behind a decision, each with its value and the level that set it. */
export function decidingOptions(
  failure: Failure,
  decision: Decision,
  operation: Operation,
  report: FailureReport,
  base: Policy,
): readonly DecidingOption[] {
  const policy = operation.policyOf(report.request);
  // From the innermost level outwards: the first that sets the option counts.
  const levels: readonly (readonly [string, PolicyOptions | undefined])[] = [
    ['the call', report.request?.callPolicy],
    [whose[operation.ref.kind], operation.policy],
    ['the API', report.request?.apiPolicy],
  ];
  const levelOf = (name: OptionName): string => {
    for (const [level, options] of levels) {
      if (options?.[name] !== undefined) return level;
      if (options?.preset && name !== 'shouldRetry')
        return `preset '${options.preset}' of ${level}`;
    }
    return base[name] === presets.interactive[name] ? 'the default' : 'the instance';
  };
  return optionsBehind(failure, decision).flatMap((name) => {
    const value = policy[name];
    if (value === undefined) return [];
    const text = typeof value === 'function' ? 'a function' : shown(value);
    return { name, value: text, level: levelOf(name) };
  });
}

const shown = (value: object | string | number): string =>
  typeof value === 'object' ? JSON.stringify(value) : `${value}`;
