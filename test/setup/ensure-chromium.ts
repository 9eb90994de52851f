import { ensurePrograms } from './apt.ts';
import { findChromium } from './chromium.ts';

ensurePrograms([
  {
    name: 'Chromium',
    find: findChromium,
    packages: ['chromium', 'chromium-headless-shell', 'fonts-liberation'],
    remedy:
      'Install one (for example `sudo apt-get install chromium`, or `npx playwright install chromium`), ' +
      'or set CHROMIUM_PATH to the executable of one that is installed.',
  },
]);
