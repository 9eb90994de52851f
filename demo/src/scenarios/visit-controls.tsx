import type { Visit, VisitPlan } from '../visits/visit.ts';
import { ConnectionButton } from './connection-button.tsx';

interface Props {
  readonly visit: Visit;
  readonly onGo: (plan: VisitPlan) => void;
}

/** How the scenario begins, and what else happens to the device. */
export function VisitControls({ visit, onGo }: Props) {
  const { scenario, startsLoaded } = visit;
  return (
    <div className="visit-controls">
      <label className="check">
        <input
          type="checkbox"
          checked={startsLoaded}
          onChange={(event) => onGo({ scenario, startsLoaded: event.target.checked })}
        />
        Begin with a loaded page
      </label>
      {scenario.id === 'offline' ? (
        <ConnectionButton />
      ) : (
        <button type="button" className="button" onClick={() => onGo(visit)}>
          Start over
        </button>
      )}
    </div>
  );
}
