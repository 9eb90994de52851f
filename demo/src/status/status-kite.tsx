import './status-kite.css';

/** A kite that flies while a request is on its way, and lies on the ground while nothing is. */
export function StatusKite() {
  return (
    <svg className="status-kite" viewBox="0 0 64 64" aria-hidden="true">
      <path className="status-ground" d="M4 58h56" />
      <g className="status-kite-body">
        <path fill="var(--red)" d="M32 6 32 26 18 26Z" />
        <path fill="var(--yellow)" d="M32 6 46 26 32 26Z" />
        <path fill="var(--teal)" d="M18 26 32 26 32 48Z" />
        <path fill="var(--blue)" d="M46 26 32 48 32 26Z" />
      </g>
    </svg>
  );
}
