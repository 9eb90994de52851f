import { ensureInstalled } from '../test/setup/install.mjs';
import { fail, run } from '../test/setup/run.mjs';

await ensureInstalled();
// What is measured is the build.
if (!(await run('tsdown --logLevel warn'))) fail('The build failed: see its message above.');
process.exitCode = (await run(['node bench/compare.mjs', ...process.argv.slice(2)].join(' ')))
  ? 0
  : 1;
