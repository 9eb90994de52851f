import { createSteadfetch } from 'steadfetch';
import { deliverOnSync } from 'steadfetch/outbox';
import { apis, handlers } from './handlers.ts';

deliverOnSync({ steady: createSteadfetch({ apis }), handlers });
