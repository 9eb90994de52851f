import type { ReceivedReport } from './report-books.ts';

/** What has come in, or why the shop does not take it. */
export type ReadReport =
  | Pick<ReceivedReport, 'id' | 'kite' | 'place' | 'words' | 'photoBytes'>
  | { readonly refusal: string };

/** Whether a text says how strong the wind was: "4 Bft". */
const namesWind = (text: string): boolean => /\d\s*Bft\b/i.test(text);

/** Reads what a report's form has sent. A strict shop wants to know the wind. */
export function readReport(form: FormData, isStrict: boolean): ReadReport {
  const text = (name: string): string => {
    const value = form.get(name);
    return typeof value === 'string' ? value : '';
  };
  const words = text('words');
  if (isStrict && !namesWind(words)) {
    return { refusal: 'Say how strong the wind was, such as “4 Bft”.' };
  }
  const photo = form.get('photo');
  const photoBytes = photo instanceof File ? photo.size : 0;
  return { id: text('id'), kite: text('kite'), place: text('place'), words, photoBytes };
}
