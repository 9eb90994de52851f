import { initTRPC } from '@trpc/server';

const { procedure, router } = initTRPC.create();
const appRouter = router({
  products: procedure.query(() => ['kite']),
  add: procedure.mutation(() => ['kite']),
});

export type AppRouter = typeof appRouter;
