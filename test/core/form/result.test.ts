import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { resultOf } from '../../../src/core/form/result.ts';

const idle = {
  status: 'idle',
  isIdle: true,
  isPending: false,
  isSuccess: false,
  isError: false,
  isPaused: false,
  data: undefined,
  error: null,
  variables: undefined,
  context: undefined,
  failureCount: 0,
  failureReason: null,
  submittedAt: 0,
};
const reading = { variables: 'now' };
const error = new Error('The file is gone.');
const unread = { variables: 'then', error };

test('without a press the result is that of React Query, but for its functions', () => {
  const observer = new MutationObserver<unknown, Error, unknown>(new QueryClient(), {});
  expect(resultOf(observer.getCurrentResult(), undefined, undefined)).toEqual(idle);
});

test('a payload that is being read is shown as pending, and one that could not be read as failed', async () => {
  const mutationFn = async (): Promise<string> => 'done';
  const observer = new MutationObserver<unknown, Error, unknown>(new QueryClient(), { mutationFn });
  await observer.mutate(undefined);
  const result = observer.getCurrentResult();
  const { mutate: _, reset: __, ...succeeded } = result;
  expect(resultOf(result, undefined, undefined)).toEqual(succeeded);
  expect(resultOf(result, reading, unread)).toEqual({
    ...succeeded,
    status: 'pending',
    isIdle: false,
    isPending: true,
    isSuccess: false,
    isError: false,
    data: undefined,
    error: null,
    variables: 'now',
  });
  expect(resultOf(result, undefined, unread)).toEqual({
    ...succeeded,
    status: 'error',
    isIdle: false,
    isPending: false,
    isSuccess: false,
    isError: true,
    data: undefined,
    error,
    variables: 'then',
  });
});

test('a submission under way is shown, whatever is read or was not', async () => {
  const mutationFn = (): Promise<string> => new Promise(() => {});
  const observer = new MutationObserver<unknown, Error, unknown>(new QueryClient(), { mutationFn });
  void observer.mutate(undefined);
  const { mutate: _, reset: __, ...pending } = observer.getCurrentResult();
  expect(pending.status).toBe('pending');
  expect(resultOf(observer.getCurrentResult(), reading, unread)).toEqual(pending);
});
