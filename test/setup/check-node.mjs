import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fail, root } from './run.mjs';

// The binary comes from the install script of the package "node", which npm can be told to skip:
// then this runs on the machine's Node, which may be too old for the tools.
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
if (process.versions.node !== devDependencies.node) {
  fail(
    `The project brings Node ${devDependencies.node}, but this is ${process.versions.node}. ` +
      'Allow npm to run install scripts (no `ignore-scripts`) and run this again.',
  );
}
