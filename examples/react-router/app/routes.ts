import { index, route, type RouteConfig } from '@react-router/dev/routes';

export default [
  index('home.tsx'),
  route('checkout', 'checkout.tsx'),
  route('api/products', 'api.products.ts'),
  route('api/offers', 'api.offers.ts'),
  route('api/orders', 'api.orders.ts'),
] satisfies RouteConfig;
