import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

await ensureInstalled();
process.exitCode =
  (await run('node test/setup/ensure-chromium.ts')) &&
  (await run('node test/setup/build-demo.mjs')) &&
  (await run('node test/lighthouse/lighthouse.ts'))
    ? 0
    : 1;
