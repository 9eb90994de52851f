import { useQuery } from '@tanstack/react-query';
import { type RouteObject, useParams, useRevalidator, useRouteError } from 'react-router';
import { isSteadfetchError } from 'steadfetch';
import { loadProduct, product } from './loader.ts';

function Product() {
  const { id = '' } = useParams();
  const { data } = useQuery(product(id));
  return <h1>{data?.name}</h1>;
}

function Failure() {
  const error = useRouteError();
  const { revalidate } = useRevalidator();
  const why = isSteadfetchError(error) ? error.code : 'unknown';
  return <button onClick={() => void revalidate()}>Failed ({why}). Try again</button>;
}

/** For createBrowserRouter. */
export const routes: RouteObject[] = [
  {
    path: '/products/:id',
    async loader({ params: { id = '' }, request }) {
      await loadProduct(id, request);
      return null;
    },
    Component: Product,
    ErrorBoundary: Failure,
    HydrateFallback: () => <p>Loading</p>,
  },
];
