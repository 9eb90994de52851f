import { type LossyOptions, startLossyServer } from './lossy-server.ts';

// The lossy server in a process of its own: it and its clients each have a core.

const [, , options = '{}'] = process.argv;
const server = await startLossyServer(JSON.parse(options) as LossyOptions);
process.on('message', (asked: 'report' | 'close') => {
  if (asked === 'report') void server.report().then((ledger) => process.send?.(ledger));
  else void server.close().then(() => process.disconnect());
});
// Its parent is gone.
process.on('disconnect', () => process.exit());
process.send?.(server.url);
