import { orders } from './ledger.ts';

export const loader = (): Response => Response.json(orders);
