import { createSteadfetch } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { apis, handlers } from './handlers.ts';

const outbox = createOutbox({
  steady: createSteadfetch({ apis }),
  handlers,
  backgroundSync: true,
});
await navigator.serviceWorker.register('/sw.js', { type: 'module' });
await navigator.serviceWorker.ready;
Object.assign(globalThis, { outbox });
document.title = 'Ready';
