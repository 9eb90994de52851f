import { ensureInstalled } from '../setup/install.mjs';
import { fail, run } from '../setup/run.mjs';

await ensureInstalled();
for (const setup of ['ensure-chromium', 'ensure-engines'])
  if (!(await run(`node test/setup/${setup}.ts`))) process.exit(1);
// The pages of the proof are made of the source, those of the end-to-end tests of the build.
if (!(await run('tsdown --logLevel warn'))) fail('The build failed: see its message above.');
const command = ['node test/engines/browsers.ts', ...process.argv.slice(2)].join(' ');
process.exitCode = (await run(command)) ? 0 : 1;
