import { defineIdempotency, type SteadfetchConfig, type SteadyMutationContext } from 'steadfetch';
import { act } from '@testing-library/react';
import type { Mutation } from '@tanstack/react-query';
import { createRig, type Rig } from './rig.tsx';

/** What the tests of orders send with. */
export type Send = (variables: unknown, context: SteadyMutationContext) => Promise<unknown>;

/** The API of the tests honours keys. */
const apis = [
  {
    match: 'http://localhost:3000/',
    idempotency: defineIdempotency({ header: 'Idempotency-Key', format: 'raw' }),
  },
] as const;

/** Sends an order, which is given its key. */
export const sendOrder: Send = (_variables, { fetch }) => fetch('/orders', { method: 'POST' });

export function createOrderRig(
  config: SteadfetchConfig = {},
  makeClient?: Parameters<typeof createRig>[1],
): Rig & {
  readonly keys: () => (string | null)[];
  /** Submits without a component. Its failure is in its state. */
  readonly submit: (options: object, variables?: unknown) => Mutation;
} {
  const rig = createRig({ apis, ...config }, makeClient);
  return {
    ...rig,
    keys: () => rig.server.sent.map(({ headers }) => headers.get('Idempotency-Key')),
    submit(options, variables = { sku: 'kite' }) {
      const mutation = rig.client.getMutationCache().build(rig.client, options);
      act(() => void mutation.execute(variables).catch(() => {}));
      return mutation as unknown as Mutation;
    },
  };
}
