import { orders } from '../ledger.ts';

export const dynamic = 'force-dynamic';

export const GET = (): Response => Response.json(orders);
