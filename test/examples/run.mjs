import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

const [file, ...options] = process.argv.slice(2);
await ensureInstalled();
process.exitCode =
  (await run('node test/setup/ensure-chromium.ts')) &&
  (await run([`node test/examples/${file}`, ...options].join(' ')))
    ? 0
    : 1;
