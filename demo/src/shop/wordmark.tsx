/** The shop's name and sign. */
export function Wordmark() {
  return (
    <p className="wordmark">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <path fill="var(--yellow)" d="M20 2 29 13 20 13Z" />
        <path fill="var(--red)" d="M20 2 20 13 7 15Z" />
        <path fill="var(--blue)" d="M29 13 10 29 20 13Z" />
        <path fill="var(--teal)" d="M7 15 20 13 10 29Z" />
      </svg>
      Windhover
    </p>
  );
}
