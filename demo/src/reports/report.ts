/** What somebody has seen of a kite in the air, for the shop's log. */
export interface FlightReport {
  /** That of the report, whatever becomes of it: an edited one keeps it. */
  readonly id: string;
  readonly kite: string;
  readonly place: string;
  readonly words: string;
  readonly photo: File | undefined;
  /** In epoch milliseconds. */
  readonly writtenAt: number;
}

/** What a user fills in. */
export type ReportDraft = Pick<FlightReport, 'kite' | 'place' | 'words' | 'photo'>;

/** What the API answers. */
export interface ReportReceipt {
  readonly number: number;
}

/** Where reports go: each round has a server of its own. */
export const reportsUrl = (round: number): string =>
  `https://reports-${round}.kites.example/api/flight-reports`;

export function toForm({ id, kite, place, words, photo }: FlightReport): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ id, kite, place, words })) form.set(name, value);
  if (photo) form.set('photo', photo);
  return form;
}
