import type { Page } from 'playwright';

/** A stretch of the time axis, in milliseconds from its beginning. */
type Span = readonly [from: number, to: number];

/** A line of the flight recorder, by where its bars lie. */
interface Lane {
  readonly number: string;
  readonly status: string;
  readonly request: Span | undefined;
  readonly planned: Span | undefined;
  readonly elapsed: Span | undefined;
  readonly retryAfter: Span | undefined;
  readonly mark: string | undefined;
}

function readLanes(page: Page): Promise<Lane[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll('.lane')].map((lane) => {
      const textOf = (selector: string): string | undefined =>
        lane.querySelector(selector)?.textContent;
      const spanOf = (selector: string): readonly [number, number] | undefined => {
        const style = lane.querySelector<HTMLElement>(selector)?.style;
        return (
          style && [
            Number(style.getPropertyValue('--from')),
            Number(style.getPropertyValue('--to')),
          ]
        );
      };
      return {
        number: textOf('.lane-number') ?? '',
        status: textOf('.lane-status') ?? '',
        request: spanOf('.request'),
        planned: spanOf('.wait[data-planned]'),
        elapsed: spanOf('.wait:not([data-planned])'),
        retryAfter: spanOf('.retry-after'),
        mark: textOf('.mark'),
      };
    }),
  );
}

const lengthOf = ([from, to]: Span): number => to - from;

function describeLane(lane: Lane, next: Lane | undefined): string {
  const { number, status, request, planned, elapsed, retryAfter, mark } = lane;
  const parts = [`${number}: ${status}`];
  // The time of an answer is the API's; that of a time-out is ours, and exact.
  if (status === 'timed out' && request) parts[0] += ` after ${lengthOf(request)} ms`;
  if (retryAfter) parts.push(`Retry-After ${lengthOf(retryAfter)} ms`);
  // The mark of a wait says the same, to a tenth of a second.
  if (planned && elapsed) {
    const end = next?.request?.[0] ?? elapsed[1];
    parts.push(`waited ${end - planned[0]} of ${lengthOf(planned)} ms`);
  }
  if (mark !== undefined && !/\d s$/.test(mark)) parts.push(mark);
  return parts.join(', ');
}

/** The picture in words: a line such as "1: 503, waited 1500 of 1500 ms" for each attempt. */
export async function readPicture(page: Page): Promise<string[]> {
  const lanes = await readLanes(page);
  return lanes.map((lane, index) => describeLane(lane, lanes[index + 1]));
}
