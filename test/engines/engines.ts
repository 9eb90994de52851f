import { execFileSync } from 'node:child_process';
import { findChromium } from '../setup/chromium.ts';
import { findFirefox } from '../setup/firefox.ts';
import { findWebKitDriver } from '../setup/webkit.ts';

export const engineNames = ['chromium', 'firefox', 'webkit'] as const;

export type EngineName = (typeof engineNames)[number];

export const isEngineName = (name: string): name is EngineName =>
  engineNames.some((known) => known === name);

const firstOf = (text: string): string => /\d+(\.\d+)*/.exec(text)?.[0] ?? '?';
const ask = (path = '', ...args: readonly string[]): string =>
  firstOf(execFileSync(path, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));

/** How the figures call an engine, with its version. */
export function titleOf(engine: EngineName): string {
  if (engine === 'chromium') return `Chromium ${ask(findChromium(), '--version')}`;
  if (engine === 'firefox') return `Firefox ESR ${ask(findFirefox(), '--version')}`;
  return `WebKitGTK ${webkitVersion()}`;
}

/** The driver does not say it; Debian's packages do. */
function webkitVersion(): string {
  if (findWebKitDriver() === undefined) return '?';
  try {
    return ask('dpkg-query', '--show', '--showformat=${Version}', 'webkit2gtk-driver');
  } catch {
    return '?';
  }
}
