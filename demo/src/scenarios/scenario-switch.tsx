import './scenarios.css';

interface Option {
  readonly id: string;
  readonly label: string;
}

interface Props<T extends Option> {
  readonly options: readonly T[];
  readonly chosen: T;
  readonly onChoose: (option: T) => void;
}

/** What the API does: one of the scenarios. */
export function ScenarioSwitch<T extends Option>({ options, chosen, onChoose }: Props<T>) {
  return (
    <fieldset className="switch" data-options={options.length}>
      <legend>What should the API do?</legend>
      {options.map((option) => (
        <label key={option.id} className="option">
          <input
            type="radio"
            name="scenario"
            checked={option.id === chosen.id}
            onChange={() => onChoose(option)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
