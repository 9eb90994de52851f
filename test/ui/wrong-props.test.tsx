import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { renderToString } from 'react-dom/server';
import { useMutationStatus } from 'steadfetch/react';
import { RetryStatus, TextsProvider } from 'steadfetch/ui';
import { beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

// As JavaScript lets one write them.
const Status = RetryStatus as (props: object) => ReactNode;
const Provider = TextsProvider as unknown as (props: { readonly texts?: unknown }) => ReactNode;
function Mutation({ target }: { readonly target?: unknown }) {
  return useMutationStatus(target as { readonly mutationKey: readonly unknown[] }).status;
}

test.each<readonly [string, ReactNode, string]>([
  [
    'RetryStatus of nothing',
    <Status key="status" />,
    'RetryStatus: query is undefined, and must be a key, or mutation must be a key or a target.',
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
    'the status of no mutation',
    <Mutation key="mutation" />,
    'useMutationStatus: target is undefined, and must be that of a hook, or { mutationKey: [...] }.',
  ],
])('%s is a TypeError that says what it must be', (_, node, message) => {
  const tree = <QueryClientProvider client={new QueryClient()}>{node}</QueryClientProvider>;
  expect(() => renderToString(tree)).toThrow(new TypeError(message));
});
