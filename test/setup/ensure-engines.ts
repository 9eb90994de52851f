import { ensurePrograms } from './apt.ts';
import { findFirefox } from './firefox.ts';
import { findWebKitDriver, findXvfb } from './webkit.ts';

ensurePrograms([
  {
    name: 'Firefox',
    find: findFirefox,
    packages: ['firefox-esr'],
    remedy:
      'Install one (for example `sudo apt-get install firefox-esr`), or set FIREFOX_PATH to the executable ' +
      'of one that is installed.',
  },
  {
    name: 'WebKitGTK',
    find: findWebKitDriver,
    packages: ['webkit2gtk-driver'],
    remedy:
      'Install it (for example `sudo apt-get install webkit2gtk-driver`), or set WEBKIT_DRIVER_PATH to its ' +
      'WebKitWebDriver.',
  },
  {
    name: 'Xvfb',
    find: findXvfb,
    packages: ['xvfb'],
    remedy:
      'Install it (for example `sudo apt-get install xvfb`), or set XVFB_PATH to the executable.',
  },
]);
