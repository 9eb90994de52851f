import { memo } from 'react';
import { links } from './links.ts';

const figures = [
  {
    figure: '9,998 of 10,000',
    text: 'orders told as success on a network that disturbs 45 % of the attempts. React Query alone: 9,835.',
    href: links.exactlyOnce,
  },
  {
    figure: '0 twice',
    text: 'orders booked more than once. React Query alone, with a key per attempt: 2,675.',
    href: links.exactlyOnce,
  },
  {
    figure: '870 of 880',
    text: 'outages after which a page had all its answers within 60 s. React Query alone: 594.',
    href: links.oneUser,
  },
  {
    figure: '47 kB',
    text: 'min+gzip for queries with their status, 64 kB with safe forms. An app pays for what it imports.',
    href: links.readme,
  },
] as const;

/** What was measured, and where it is written; and the ways out, which a phone has no other room for. */
export const Proof = memo(function Proof() {
  return (
    <section className="proof" aria-label="Measured">
      {figures.map(({ figure, text, href }) => (
        <a key={figure} href={href}>
          <b>{figure}</b>
          <span>{text}</span>
        </a>
      ))}
      <WaysOut />
    </section>
  );
});

/** Links to what is not the demo. */
export function WaysOut() {
  return (
    <p className="ways-out">
      <a href={links.docs}>Docs</a>
      <a href={links.npm}>npm</a>
      <a href={links.japanese} lang="ja" hrefLang="ja">
        日本語
      </a>
    </p>
  );
}
