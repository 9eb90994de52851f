import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

await ensureInstalled();
process.exitCode =
  (await run('node test/setup/ensure-chromium.ts')) &&
  (await run(['node test/ssr/ssr.ts', ...process.argv.slice(2)].join(' ')))
    ? 0
    : 1;
