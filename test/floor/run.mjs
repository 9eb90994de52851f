import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

await ensureInstalled();
const options = process.argv.slice(2);
const command = ['vitest run --config test/floor/vitest.config.ts', ...options].join(' ');
process.exitCode = (await run(command)) ? 0 : 1;
