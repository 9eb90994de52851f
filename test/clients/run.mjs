import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

await ensureInstalled();
if (!(await run('node test/setup/ensure-chromium.ts'))) process.exit(1);
const options = process.argv.slice(2);
const command = ['vitest run --config test/clients/vitest.config.ts', ...options].join(' ');
process.exitCode = (await run(command)) ? 0 : 1;
