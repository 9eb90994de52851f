import { useId } from 'react';
import { names } from '../../../../sim/report/names.ts';
import { type LabSettings, limits, type Rival, rivals } from './settings.ts';

interface Props {
  readonly settings: LabSettings;
  readonly onChange: (settings: LabSettings) => void;
}

const behaviours = {
  stay: 'Tabs stay open and ask again and again',
  load: 'People open a page that asks for 6 things',
} as const satisfies Record<LabSettings['behaviour'], string>;

const kinds = {
  '503': 'It answers 503 at once',
  hang: 'It does not answer at all',
  drop: 'Connections break',
  'half-endpoints': 'Half of its endpoints answer 503',
} as const satisfies Record<LabSettings['kind'], string>;

const rivalNames = Object.fromEntries(
  rivals.map((rival) => [rival, `${names[rival][0]}: ${names[rival][1]}`]),
) as Record<Rival, string>;

/** What a storm is made of. */
export function LabForm({ settings, onChange }: Props) {
  const change = (part: Partial<LabSettings>): void => onChange({ ...settings, ...part });
  const number = (name: keyof typeof limits, label: string) => (
    <NumberField
      label={label}
      value={settings[name]}
      limits={limits[name]}
      onChange={(value) => change({ [name]: value })}
    />
  );
  return (
    <div className="lab-fields">
      {number('tabs', 'Tabs')}
      {number('everyS', 'Each asks every … seconds')}
      <Choice
        label="Who asks"
        value={settings.behaviour}
        options={behaviours}
        onChange={(behaviour) => change({ behaviour })}
      />
      <Choice
        label="How the server fails"
        value={settings.kind}
        options={kinds}
        onChange={(kind) => change({ kind })}
      />
      {number('outageS', 'For how many seconds')}
      {number('loadPercent', 'How busy it usually is, in %')}
      <Choice
        label="Beside Steadfetch"
        value={settings.rival}
        options={rivalNames}
        onChange={(rival) => change({ rival })}
      />
      {number('seed', 'Seed')}
    </div>
  );
}

interface NumberProps {
  readonly label: string;
  readonly value: number;
  readonly limits: readonly [least: number, most: number];
  readonly onChange: (value: number) => void;
}

function NumberField({ label, value, limits: [min, max], onChange }: NumberProps) {
  const id = useId();
  return (
    <p className="lab-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="number"
        required
        min={min}
        max={max}
        step={1}
        value={Number.isNaN(value) ? '' : value}
        onChange={(event) => onChange(event.target.valueAsNumber)}
      />
    </p>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: NoInfer<Value>;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  const id = useId();
  return (
    <p className="lab-field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value as Value)}>
        {(Object.entries(options) as [Value, string][]).map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </p>
  );
}
