import { type ApiProfile, classifyOutcomes } from 'steadfetch';

type Body = { data?: unknown; errors?: { extensions?: { code?: string } }[] };
const statuses = { UNAUTHENTICATED: 401, RATE_LIMITED: 429, INTERNAL_SERVER_ERROR: 500 };
const statusOf = new Map<unknown, number>(Object.entries(statuses));

function classifyResponse(_response: Response, body: unknown) {
  const { data, errors: [error] = [] } = Object(body) as Body;
  return data || !error ? undefined : { status: statusOf.get(error.extensions?.code) ?? 400 };
}
const outcomes = classifyOutcomes({ classifyResponse });
export const graphql: ApiProfile = { match: 'https://api.example/graphql', outcomes };
