import { useQuery } from '@tanstack/react-query';
import {
  createRootRoute,
  createRoute,
  type ErrorComponentProps,
  useRouter,
} from '@tanstack/react-router';
import { isSteadfetchError } from 'steadfetch';
import { loadProduct, product } from './loader.ts';

function Product() {
  const { id } = productRoute.useParams();
  const { data } = useQuery(product(id));
  return <h1>{data?.name}</h1>;
}

function Failure({ error }: ErrorComponentProps) {
  const router = useRouter();
  const why = isSteadfetchError(error) ? error.code : 'unknown';
  return <button onClick={() => void router.invalidate()}>Failed ({why}). Try again</button>;
}

const rootRoute = createRootRoute();
const productRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/products/$id',
  loader: ({ params, abortController }) => loadProduct(params.id, abortController),
  component: Product,
  errorComponent: Failure,
  pendingComponent: () => <p>Loading</p>,
});

/** For createRouter. */
export const routeTree = rootRoute.addChildren([productRoute]);
