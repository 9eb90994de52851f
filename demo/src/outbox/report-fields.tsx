import { useId } from 'react';
import { kites } from '../api/kites.ts';
import { kiteOf } from '../checkout/describe-order.ts';
import type { ReportDraft } from '../reports/report.ts';
import { KiteArt } from '../shop/kite-art.tsx';
import '../checkout/fields.css';

type Fields = Omit<ReportDraft, 'photo'>;

interface Props {
  readonly report: Fields;
  readonly onChange: (report: Fields) => void;
}

/** Which kite, where, and how it was. */
export function ReportFields({ report, onChange }: Props) {
  const id = useId();
  const kite = kiteOf(report);
  return (
    <div className="fields">
      <div
        className="kite-sky fields-kite"
        style={{ '--kite-sky': kite.sky } as React.CSSProperties}
      >
        <KiteArt kite={kite} />
      </div>
      <div className="field" data-field="name">
        <label htmlFor={`${id}-kite`}>Kite</label>
        <select
          id={`${id}-kite`}
          value={kite.id}
          onChange={({ target }) => onChange({ ...report, kite: target.value })}
        >
          {kites.map(({ id: value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div className="field" data-field="name">
        <label htmlFor={`${id}-place`}>Place</label>
        <input
          id={`${id}-place`}
          value={report.place}
          required
          maxLength={40}
          autoComplete="off"
          onChange={({ target }) => onChange({ ...report, place: target.value })}
        />
      </div>
      <WordsField words={report.words} onChange={(words) => onChange({ ...report, words })} />
    </div>
  );
}

interface WordsProps {
  readonly words: string;
  readonly onChange: (words: string) => void;
}

/** Also where a report is edited. */
export function WordsField({ words, onChange }: WordsProps) {
  const id = useId();
  return (
    <div className="field" data-field="words">
      <label htmlFor={id}>How did it fly?</label>
      <textarea
        id={id}
        value={words}
        required
        rows={2}
        maxLength={160}
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}
