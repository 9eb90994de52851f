import { ensureInstalled } from './install.mjs';
import { fail, run } from './run.mjs';

const port = process.env['PORT'] ?? '';
if (!/^\d*$/.test(port)) fail(`PORT must be a number, not "${port}".`);

await ensureInstalled();
// The demo imports the package by name, so it gets what users get: the build.
if (!(await run('tsdown --logLevel warn'))) fail('The build failed: see its message above.');

// Without --strictPort: when the port is taken, Vite serves on the next free one and says so.
const serve = `vite demo --config demo/vite.config.ts${port && ` --port ${port}`}`;
process.exitCode = (await run(serve)) ? 0 : 1;
