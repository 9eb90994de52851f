import type { Kite } from '../api/kites.ts';

/** The strongest wind that anything here flies in, in Beaufort. */
const strongest = 8;

/** The wind that a kite flies in, as a scale and in words. */
export function WindScale({ wind: [from, to] }: Pick<Kite, 'wind'>) {
  const steps = Array.from({ length: strongest }, (_, index) => index + 1);
  return (
    <p className="wind">
      <span className="wind-scale" aria-hidden="true">
        {steps.map((step) => (
          <i key={step} data-flies={step >= from && step <= to} />
        ))}
      </span>
      <span className="wind-text">
        {from}–{to} Bft
      </span>
    </p>
  );
}
