import {
  focusManager,
  type Mutation,
  onlineManager,
  timeoutManager,
  useMutation,
} from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { Fragment } from 'react';
import type { SteadfetchConfig } from 'steadfetch';
import type { RetryControls } from 'steadfetch/react';
import { expect, onTestFinished } from 'vitest';
import { createHandle } from '../query/handle.ts';
import { createRig, type Rig } from '../query/rig.tsx';
import { statusOf, watchMutation } from './watch.tsx';

/** An error as axios throws it. */
export function axiosPut(status: number): Error {
  return Object.assign(new Error(`status ${status}`), {
    config: { method: 'put' },
    response: { status, headers: {} },
  });
}

/** Throws so often what `fail` makes, then gives 'done'. */
export function failing(times: number, fail: () => unknown): () => string {
  let left = times;
  return () => {
    // Whatever another client throws, which need not be an Error.
    if (left-- > 0) throw fail();
    return 'done';
  };
}

/** The plain mutations with one key: who submits them, and who watches them. */
export interface Plain {
  readonly key: string;
  readonly submit: () => void;
  /** The newest of them. */
  readonly newest: () => Mutation;
  /** When the mutationFn ran, in milliseconds since the rig was made. */
  readonly runs: number[];
  readonly shown: () => ReturnType<typeof statusOf>;
  readonly story: () => string[];
  /** Presses a button so often. */
  readonly press: (name: keyof RetryControls, times?: number) => void;
  readonly Form: () => null;
  readonly Watcher: () => null;
}

export interface PlainRig extends Rig {
  readonly plain: (key: string, run: () => unknown, own?: object) => Plain;
  /** A request whose failures are retried. */
  readonly put: () => Promise<Response>;
}

export function createPlainRig(config: SteadfetchConfig = {}): PlainRig {
  const rig = createRig(config);
  // Nothing of ours stays.
  onTestFinished(() => {
    expect(Object.hasOwn(timeoutManager, 'setTimeout')).toBe(false);
    expect(Object.hasOwn(focusManager, 'isFocused')).toBe(false);
    expect(Object.hasOwn(onlineManager, 'isOnline')).toBe(false);
  });
  return {
    ...rig,
    put: () => rig.steady.fetch('/a', { method: 'PUT' }),
    plain(key, run, own = {}) {
      const mutationKey = [key];
      const runs: number[] = [];
      const form = createHandle<() => void>();
      const watched = watchMutation(rig, mutationKey);
      return {
        key,
        runs,
        newest() {
          const newest = rig.client.getMutationCache().findAll({ mutationKey }).at(-1);
          if (!newest) throw new Error('nothing has been submitted');
          return newest;
        },
        submit: () => act(() => form.get()()),
        shown: () => statusOf(watched.last()),
        story: watched.story,
        press: (name, times = 1) =>
          act(() => {
            for (let time = 0; time < times; time++) watched.last()[name]();
          }),
        Watcher: watched.Watcher,
        Form() {
          const { mutate } = useMutation({
            mutationKey,
            mutationFn: async () => {
              runs.push(rig.elapsed());
              return run();
            },
            ...own,
          });
          form.set(() => mutate());
          return null;
        },
      };
    },
  };
}

/** Shows forms, each with its watcher. */
export function showAll(rig: PlainRig, forms: readonly Plain[], strict = false) {
  const children = forms.map(({ key, Form, Watcher }) => (
    <Fragment key={key}>
      <Form />
      <Watcher />
    </Fragment>
  ));
  const { rerender } = rig.show(children, { strict });
  return () => rerender(rig.wrap(children, { strict }));
}

/** Shows one. */
export function showPlain(rig: PlainRig, plain: Plain, strict = false) {
  return { ...plain, renderAgain: showAll(rig, [plain], strict) };
}
