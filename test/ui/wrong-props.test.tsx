import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { createSteadfetch, mutationOptions } from 'steadfetch';
import * as hooks from 'steadfetch/react';
import { english, RetryStatus, SafeForm, TextsProvider } from 'steadfetch/ui';
import { beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

// As JavaScript lets one write them.
const Status = RetryStatus as (props: Readonly<Record<string, unknown>>) => ReactNode;
const Provider = TextsProvider as unknown as (props: { readonly texts?: unknown }) => ReactNode;
/** Calls a hook with what JavaScript lets one give it. */
function Call({ hook, given }: { readonly hook: string; readonly given?: unknown }) {
  (hooks as unknown as Record<string, (given: unknown) => unknown>)[hook]?.(given);
  return null;
}
const order = mutationOptions(createSteadfetch(), { mutationFn: async () => 1 });

test.each<readonly [string, ReactNode, string]>([
  [
    'RetryStatus of nothing',
    <Status key="status" />,
    'RetryStatus: query is undefined, and must be a key, or mutation must be a key or a target.',
  ],
  [
    'a form without options',
    <Call key="form" hook="useSafeSubmit" given={order} />,
    'useSafeSubmit: form is undefined, and must be a name.',
  ],
  [
    'texts that are missing',
    <Provider key="none" />,
    'TextsProvider: texts is undefined, and must be a list, such as [english, german].',
  ],
  [
    'texts of one language',
    <Provider key="one" texts={{ lang: 'en' }} />,
    'TextsProvider: texts is {"lang":"en"}, and must be a list, such as [english, german].',
  ],
  [
    'texts of no language',
    <Provider key="empty" texts={[]} />,
    'TextsProvider: texts is [], and must be a list, such as [english, german].',
  ],
  [
    'a part of the texts',
    <Provider key="part" texts={[english, { lang: 'fr', retryNow: 'Réessayer' }]} />,
    'TextsProvider: texts[1].sentence is undefined, and must be of the type function: write { ...english, lang, … }.',
  ],
  [
    'a part of a group of texts',
    <Provider key="group" texts={[{ ...english, form: { submit: 'Go' } }]} />,
    'TextsProvider: texts[0].form.another is undefined, and must be of the type string: write { ...english, lang, … }.',
  ],
  [
    'a text where a function is needed',
    <Provider key="text" texts={[{ ...english, attempt: 'Attempt' }]} />,
    "TextsProvider: texts[0].attempt is 'Attempt', and must be of the type function: write { ...english, lang, … }.",
  ],
  [
    'a language that is none',
    <Provider key="none" texts={[null]} />,
    'TextsProvider: texts[0] is null, and must be of the type object: write { ...english, lang, … }.',
  ],
])('%s is a TypeError that says what it must be', (_, node, message) => {
  const tree = <QueryClientProvider client={new QueryClient()}>{node}</QueryClientProvider>;
  expect(() => renderToString(tree)).toThrow(new TypeError(message));
});

test.each([
  [undefined, 'undefined'],
  [{ sku: 'lamp' }, '{"sku":"lamp"}'],
])('SafeForm with the variables %j is a TypeError before a press', (variables, shown) => {
  const Form = SafeForm as unknown as typeof Status;
  const tree = (
    <QueryClientProvider client={new QueryClient()}>
      <Form form="order" mutation={order} variables={variables} />
    </QueryClientProvider>
  );
  expect(() => renderToString(tree)).toThrow(
    new TypeError(`SafeForm: variables is ${shown}, and must be a function of the fields.`),
  );
});

const ofQuery = 'useRetryStatus: queryKey is';
const ofMutation = 'useMutationStatus: target is';
const ofCountdown = 'useCountdown: retryAt is';

test.each<readonly [hook: string, given: unknown, message: string]>([
  ['useRetryStatus', undefined, `${ofQuery} undefined`],
  ['useRetryStatus', null, `${ofQuery} undefined`],
  ['useRetryStatus', ['a'], `${ofQuery} undefined`],
  ['useRetryStatus', 'a', `${ofQuery} undefined`],
  ['useRetryStatus', { queryKey: 'a' }, `${ofQuery} 'a'`],
  ['useRetryStatus', { mutationKey: ['a'] }, `${ofQuery} undefined`],
  ['useFallback', undefined, 'useFallback: its argument is undefined'],
  ['useFallback', 'a', "useFallback: its argument is 'a'"],
  ['useFallback', { queryKey: ['a'] }, 'useFallback: its argument is {"queryKey":["a"]}'],
  ['useMutationStatus', undefined, `${ofMutation} undefined`],
  ['useMutationStatus', null, `${ofMutation} null`],
  ['useMutationStatus', 'a', `${ofMutation} 'a'`],
  ['useMutationStatus', ['a'], `${ofMutation} ["a"]`],
  ['useMutationStatus', { queryKey: ['a'] }, `${ofMutation} {"queryKey":["a"]}`],
  ['useMutationStatus', { mutationKey: 'a' }, `${ofMutation} {"mutationKey":"a"}`],
  ['useMutationStatus', { target: { mutation: '1' } }, `${ofMutation} {"target"`],
  ['useMutationStatus', order, `${ofMutation} {`],
  ['useCountdown', null, `${ofCountdown} null`],
  ['useCountdown', Number.NaN, `${ofCountdown} NaN`],
  ['useCountdown', new Date(5), `${ofCountdown} "1970-01-01T00:00:00.005Z"`],
  ['useCountdown', '5', `${ofCountdown} '5'`],
])('%s(%j) is a TypeError, and not for ever idle', (hook, given, message) => {
  const tree = (
    <QueryClientProvider client={new QueryClient()}>
      <Call hook={hook} given={given} />
    </QueryClientProvider>
  );
  expect(() => renderToString(tree)).toThrow(TypeError);
  expect(() => renderToString(tree)).toThrow(message);
});

test.each<readonly [props: object, message: string]>([
  [{ query: 'a' }, "RetryStatus: query is 'a', and must be a key"],
  [{ query: { queryKey: ['a'] } }, 'RetryStatus: query is {"queryKey":["a"]}, and must be a key'],
  [{ query: null }, 'RetryStatus: query is null, and must be a key'],
  [{ mutation: 'a' }, "RetryStatus: mutation is 'a', and must be a key, or the target of a hook."],
  [{ mutation: { mutationKey: 'a' } }, 'useMutationStatus: target is {"mutationKey":"a"}'],
  [{ mutation: order }, 'useMutationStatus: target is {'],
])('RetryStatus with %j is a TypeError', (props, message) => {
  const tree = (
    <QueryClientProvider client={new QueryClient()}>
      <Status {...props} />
    </QueryClientProvider>
  );
  expect(() => renderToString(tree)).toThrow(message);
});
