import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

await ensureInstalled();
const [script, ...rest] = process.argv.slice(2);
process.exitCode = (await run([`node test/${script}`, ...rest].join(' '))) ? 0 : 1;
