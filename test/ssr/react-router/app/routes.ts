import { index, route, type RouteConfig } from '@react-router/dev/routes';

export default [
  index('home.tsx'),
  route('shared', 'shared.tsx'),
  route('alone', 'alone.tsx'),
] satisfies RouteConfig;
