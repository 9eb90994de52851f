import { ensureInstalled } from '../setup/install.mjs';
import { run } from '../setup/run.mjs';

await ensureInstalled();
process.exitCode = (await run(['node test/suite/suite.ts', ...process.argv.slice(2)].join(' ')))
  ? 0
  : 1;
