import { WaysOut } from './proof.tsx';

const pages = [
  { name: 'storm', label: 'The storm', href: '#/' },
  { name: 'read', label: 'Read it', href: '#/read' },
  { name: 'order', label: 'Order it', href: '#/order' },
  { name: 'send', label: 'Send it', href: '#/send' },
];

/** The sign, the pages, and the ways out. */
export function Header({ current }: { readonly current: string }) {
  return (
    <header className="head">
      <a className="wordmark" href="#/">
        <svg viewBox="0 0 32 32" aria-hidden="true">
          <path fill="var(--yellow)" d="M20 2 29 13 20 13Z" />
          <path fill="var(--red)" d="M20 2 20 13 7 15Z" />
          <path fill="var(--blue)" d="M29 13 10 29 20 13Z" />
          <path fill="var(--teal)" d="M7 15 20 13 10 29Z" />
        </svg>
        Steadfetch
      </a>
      <nav className="pages" aria-label="Demo">
        {pages.map(({ name, label, href }) => (
          <a key={name} href={href} aria-current={name === current ? 'page' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <WaysOut />
    </header>
  );
}
