import type { ComponentType } from 'react';

/** How an app asks its server: as tutorials do, or by Steadfetch. */
export interface Api {
  readonly get: <T>(path: string) => Promise<T>;
  readonly post: (path: string, body: unknown) => Promise<unknown>;
}

/** What is true, whatever the screen says. */
interface Truth {
  /** The texts that were posted, and are stored. */
  readonly stored: readonly string[];
  readonly isOnline: boolean;
}

export interface Props {
  readonly api: Api;
}

/**
 * A component as tutorials and docs write it. Its screen speaks one language: `…` where something is under
 * way, `Failed` where something has failed, and the server's own words.
 */
export interface Tutorial {
  readonly name: string;
  readonly App: ComponentType<Props>;
  /** What the user wants to see. @default ['list 2'] */
  readonly content?: readonly string[];
  /** The user does this, on a page that was loaded before the trouble. Without it, the page is opened in the trouble. */
  readonly act?: () => void;
  /** The endpoint that is broken where one is. @default 'GET /api/list' */
  readonly broken?: string;
  /** What is on the screen while a promise of a refetch is awaited. */
  readonly awaits?: string;
  /** Words that are true only in these circumstances. */
  readonly claims?: Readonly<Record<string, (truth: Truth) => boolean>>;
  readonly isStrict?: boolean;
}

export interface List {
  readonly items: readonly string[];
}

export interface Page extends List {
  readonly next: number | null;
}
