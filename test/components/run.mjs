import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

// Writes docs/components-in-outages.md.
await ensureInstalled();
const command = 'vitest run --config test/vitest.config.ts --project unit test/components --update';
process.exitCode = (await run(command)) ? 0 : 1;
