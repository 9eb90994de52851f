import { writeFileSync } from 'node:fs';
import { runAsProduction } from './engine/production.ts';
import { runFirstStorm } from './lab/first-storm.ts';

// What the demo's home shows before anybody presses anything: `node sim/first-storm.ts`.
runAsProduction();
const path = new URL('../demo/src/storm/first-storm.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(await runFirstStorm())}\n`);
