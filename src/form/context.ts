import type { Mutation } from '@tanstack/react-query';
import type { FormIntents } from './submission.ts';
import type { FormObserver } from './observer.ts';
import type { MutationTarget } from '../react-query/status/mutation-statuses.ts';
import type { StatusStore } from '../react-query/status/store.ts';
import type { FormOptions } from './safe-submit.ts';

/** What the parts of one form stand on. */
export interface FormContext<TData, TError, TVariables, TOnMutateResult> {
  readonly statuses: StatusStore<Mutation>;
  readonly intents: FormIntents;
  readonly observer: FormObserver<TData, TError, TVariables, TOnMutateResult>;
  /** Its newest submission. */
  readonly target: MutationTarget;
  /** What it is made with at present. */
  readonly options: () => FormOptions<TData, TError, TVariables, TOnMutateResult> | undefined;
  /** Something of it is to be shown. */
  readonly changed: () => void;
}
