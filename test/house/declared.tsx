// What an app exports that is made by the package: its declarations must be possible, and name nothing private.
import { QueryClient } from '@tanstack/react-query';
import * as steadfetch from 'steadfetch';
import { grpcOutcomes, policyFromServiceConfig } from 'steadfetch/grpc';
import { createOutbox, deliverOnSync, outboxHandler } from 'steadfetch/outbox';
import { traceOperations } from 'steadfetch/otel';
import { retryPolicy } from 'steadfetch/policy';
import * as hooks from 'steadfetch/react';
import { createActionState, idempotent, idempotentAction, memoryStore } from 'steadfetch/server';
import * as telemetry from 'steadfetch/telemetry';
import * as testing from 'steadfetch/testing';
import { ConnectionBanner, english, SafeForm } from 'steadfetch/ui';

interface Order {
  readonly id: number;
}

const { profiles, presets } = steadfetch;
export { presets, profiles };
export const keyed = steadfetch.defineIdempotency({ ...profiles.draft, lifetimeMs: 1 });
export const inBody = steadfetch.defineIdempotency({ body: 'key' });
export const steady = steadfetch.createSteadfetch({
  apis: [{ match: '/api', idempotency: keyed }],
});
export const { defaultOptions, json, mutationPolicy, queryPolicy } = steady;
export const policy = steady.queryPolicy({ preset: 'background' });
export const plain = steady.mutationPolicy({ maxRetries: 1 });
export const firstStep = retryPolicy();
export const queryClient = new QueryClient({ defaultOptions });
export const merged = steadfetch.mergeDefaultOptions(steady, { queries: { staleTime: 1 } });
export const persister = steadfetch.composePersister(steady, (queryFn, context) =>
  queryFn(context),
);

export const placeOrder = steadfetch.mutationOptions(steady, {
  mutationKey: ['order'],
  mutationFn: (order: { readonly sku: string }, context) =>
    context.json<Order>('/api/orders', { json: order }),
});
export const withoutKey = steadfetch.mutationOptions(steady, {
  mutationFn: async (n: number) => n,
});

export const outcomes = steadfetch.classifyOutcomes({ classifyResponse: () => undefined });
export const conditional = steadfetch.conditionalWrites();
export const concurrency = steadfetch.limitConcurrency({ maxInFlight: 2 });
export const rateLimit = steadfetch.rateLimitFields();
export const tabs = steadfetch.shareAcrossTabs();
export const connectivity = steadfetch.watchConnectivity();
export const shown = steadfetch.fallback(3);
export const shownBy = steadfetch.fallback(({ lastData }) => lastData);
export const once = (): Promise<number> => steadfetch.retry(steady, () => 1);
export const linked = steadfetch.linkClient(steady, { get: async () => 1 });
export const raw = steadfetch.rawFetchFor(steady, undefined);
export const key = steadfetch.createIdempotencyKey();
export const outcome = steadfetch.outcomeOf(1);
export const parsed = steadfetch.parseRetryAfter('1', { nowMs: 1 });
export const grpc = grpcOutcomes();
export const fromService = policyFromServiceConfig({ methodConfig: [] }, 'a/b');

export const handlers = {
  placeOrder: outboxHandler({
    mutationFn: (order: { sku: string }, context) =>
      context.json<Order>('/api/orders', { json: order }),
  }),
};
export const outbox = createOutbox({ steady, queryClient, handlers });
export const queued = outbox.mutationOptions('placeOrder');
export const deliver = deliverOnSync;
export const store = memoryStore();
export const served = idempotent(() => new Response(), { store });
export const book = idempotentAction(async () => ({ id: 1 }), { store });
export const first = createActionState();
export const logger = telemetry.consoleLogger();
export const { metrics, watchHealth } = telemetry;
export const trace = traceOperations;
export const random = testing.seededRandom(1);
export const { compose, failTimes, outage } = testing;

export const useOrder = () => hooks.useSafeSubmit(placeOrder, { form: 'order' });
export const useQueued = () => hooks.useOutboxMutation(queued);
export const useSteady = () => hooks.useSteadyMutation(placeOrder);
export const useStatus = () => hooks.useRetryStatus({ queryKey: ['a'] });
export const useMutation = () => hooks.useMutationStatus(placeOrder);
export const useCount = () => hooks.useCountdown(1);
export const useEntries = () => hooks.useOutboxEntries();
export const useEntry = () => hooks.useOutboxEntry('a');
export const useBox = () => hooks.useOutbox();
export const useShown = () => hooks.useFallback(['a']);
export const useBooking = () => hooks.useSafeAction(book, first, { form: 'booking' });
export const useOrigin = () => hooks.useOriginStatus('https://shop.example');
export const useNetwork = () => hooks.useConnectivity();

export const banner = <ConnectionBanner />;
export const words = english;
export const Form = SafeForm;
