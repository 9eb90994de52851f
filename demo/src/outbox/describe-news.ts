import type { ItemText } from './describe-item.ts';

/** What a user was told of a report last. */
export interface Told extends Pick<ItemText, 'mark' | 'title' | 'detail'> {
  readonly id: string;
  /** Of what, in words. */
  readonly name: string;
}

/**
 * What a screen reader is told when the list has changed: each report that has, once. On a page that
 * was just opened, how many are there.
 */
export function describeNews(before: readonly Told[] | undefined, now: readonly Told[]): string {
  if (!before) return describeStart(now);
  const known = new Map(before.map((told) => [told.id, told]));
  return now
    .filter(({ id, title, detail }) => {
      const told = known.get(id);
      return told?.title !== title || told.detail !== detail;
    })
    .map(({ name, title, detail }) => `${name}: ${title}. ${detail}`)
    .join(' ');
}

function describeStart(now: readonly Told[]): string {
  const count = (...marks: readonly ItemText['mark'][]): number =>
    now.filter(({ mark }) => marks.includes(mark)).length;
  const [kept, dead] = [count('kept', 'sending'), count('needs-you')];
  return [
    kept > 0 && `${kept} ${kept === 1 ? 'report is' : 'reports are'} kept on this device.`,
    dead > 0 && `${dead} ${dead === 1 ? 'needs' : 'need'} your attention.`,
  ]
    .filter(Boolean)
    .join(' ');
}
