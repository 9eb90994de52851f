import { ensureInstalled } from './install.mjs';
import { fail, run } from './run.mjs';

await ensureInstalled();
// The demo imports the package by name, so it gets what users get: the build.
if (!(await run('tsdown --logLevel warn'))) fail('The build failed: see its message above.');

// A folder of files, for any web server, at any path: DEMO_URL is where it will be, for the picture
// that other sites show of it.
if (!(await run('vite build demo --config demo/vite.config.ts'))) fail('The demo was not built.');
if (!(await run('vitepress build docs'))) fail('The docs were not built.');
console.log('\nThe demo is in demo/dist, and the docs in demo/dist/docs.');
