import { afterAll, beforeAll } from 'vitest';
import { type HostileServer, startServer } from '../browser/server.ts';
import { describeAdapter } from './contract.ts';

let server: HostileServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

describeAdapter(() => server.origin);
