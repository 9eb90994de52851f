import { index, route, type RouteConfig } from '@react-router/dev/routes';

export default [
  index('home.tsx'),
  route('shared', 'shared.tsx'),
  route('alone', 'alone.tsx'),
  route('order', 'order.tsx'),
  route('plain-order', 'plain-order.tsx'),
  route('thanks', 'thanks.tsx'),
  route('ledger', 'ledger-route.ts'),
] satisfies RouteConfig;
