import { ensureInstalled } from '../../setup/install.mjs';
import { run } from '../../setup/run.mjs';

// Writes docs/exactly-once/middlewares.md.
await ensureInstalled();
const commands = [
  'node test/setup/ensure-databases.ts',
  'node test/check/middlewares/middlewares.ts',
];
for (const command of commands) if (!(await run(command))) process.exit(1);
