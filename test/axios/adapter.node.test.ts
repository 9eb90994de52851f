import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { type HostileServer, startServer } from '../browser/server.ts';
import { describeAdapter } from './contract.ts';

let server: HostileServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());
// What it hints at about requests of no query is another test's subject.
beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

describeAdapter(() => server.origin);
