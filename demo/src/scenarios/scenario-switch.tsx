import './scenarios.css';
import { type Scenario, scenarios } from './scenarios.ts';

interface Props {
  readonly scenario: Scenario;
  readonly onChoose: (scenario: Scenario) => void;
}

/** What the API does: one of the scenarios. */
export function ScenarioSwitch({ scenario, onChoose }: Props) {
  return (
    <fieldset className="switch">
      <legend>What should the API do?</legend>
      {scenarios.map((option) => (
        <label key={option.id} className="option">
          <input
            type="radio"
            name="scenario"
            checked={option.id === scenario.id}
            onChange={() => onChoose(option)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
