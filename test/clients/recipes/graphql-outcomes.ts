import { type ApiProfile, classifyOutcomes } from 'steadfetch';

type Body = { data?: unknown; errors?: { extensions?: { code?: string } }[] } | undefined;
const statuses = { UNAUTHENTICATED: 401, RATE_LIMITED: 429, INTERNAL_SERVER_ERROR: 500 };
const statusOf = new Map<unknown, number>(Object.entries(statuses));

export const graphql: ApiProfile = {
  match: 'https://api.example/graphql',
  outcomes: classifyOutcomes({
    classifyResponse(_response, body) {
      const { data, errors = [] } = (body as Body) ?? {};
      if (data || !errors[0]) return undefined;
      return { status: statusOf.get(errors[0].extensions?.code) ?? 400 };
    },
  }),
};
