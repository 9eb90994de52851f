/** The result of trying one requirement. */
export type Finding =
  | { readonly kind: 'met' }
  | { readonly kind: 'violated'; readonly seen: string }
  /** The check ran, and no answer showed whether the requirement is met. */
  | { readonly kind: 'unknown'; readonly why: string }
  /** The requirement does not concern this API, or needs an option that is not given. */
  | { readonly kind: 'skipped'; readonly why: string };

export const met: Finding = { kind: 'met' };
export const violated = (seen: string): Finding => ({ kind: 'violated', seen });
export const unknown = (why: string): Finding => ({ kind: 'unknown', why });
export const skipped = (why: string): Finding => ({ kind: 'skipped', why });

/** The first finding that is not met. */
export const all = (...findings: readonly Finding[]): Finding =>
  findings.find(({ kind }) => kind === 'violated') ??
  findings.find(({ kind }) => kind !== 'met') ??
  met;

/** Met if it is so, otherwise violated. */
export const holds = (isSo: boolean, otherwise: string): Finding =>
  isSo ? met : violated(otherwise);

/** How often, in words. */
export const times = (count: number | undefined): string =>
  count === 1 ? 'once' : count === 2 ? 'twice' : `${count ?? 0} times`;

/** The check as a whole cannot go on. */
export class CannotRun extends Error {
  override name = 'CannotRun' as const;
}

/** A requirement cannot be decided, and the others can. */
export class CannotTell extends Error {
  override name = 'CannotTell' as const;
}
