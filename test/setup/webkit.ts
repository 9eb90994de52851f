import { existsSync } from 'node:fs';

/** The path that a variable of the environment chooses, else the usual one; undefined when nothing is there. */
const findAt = (variable: string, usual: string): string | undefined =>
  [process.env[variable] ?? usual].find((path) => existsSync(path));

/** The driver of WebKitGTK, which knows where its browser is. */
export const findWebKitDriver = (): string | undefined =>
  findAt('WEBKIT_DRIVER_PATH', '/usr/bin/WebKitWebDriver');

/** A screen that no user sees: WebKitGTK has no headless mode. */
export const findXvfb = (): string | undefined => findAt('XVFB_PATH', '/usr/bin/Xvfb');
