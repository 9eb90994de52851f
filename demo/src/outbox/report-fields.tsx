import { useId } from 'react';
import type { ReportDraft } from '../reports/report.ts';
import { KiteField } from '../shop/kite-field.tsx';

type Fields = Omit<ReportDraft, 'photo'>;

interface Props {
  readonly report: Fields;
  readonly onChange: (report: Fields) => void;
}

/** Which kite, where, and how it was. */
export function ReportFields({ report, onChange }: Props) {
  const id = useId();
  return (
    <div className="fields">
      <KiteField isWide kite={report.kite} onChange={(kite) => onChange({ ...report, kite })} />
      <div className="field" data-field="wide">
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
