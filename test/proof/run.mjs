import { ensureInstalled } from '../setup/install.mjs';
import { fail, run } from '../setup/run.mjs';

const [script, ...rest] = process.argv.slice(2);

await ensureInstalled();
// What is measured is the build.
if (!(await run('tsdown --logLevel warn'))) fail('The build failed: see its message above.');
process.exitCode = (await run([`node test/proof/${script}`, ...rest].join(' '))) ? 0 : 1;
