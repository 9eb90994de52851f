import type { Lane, Span, Tone } from './recording.ts';

/** What the time axis spans. */
export interface Scale {
  /** In epoch milliseconds. */
  readonly from: number;
  readonly lengthMs: number;
  /** How wide it is drawn, in rem. */
  readonly width: number;
  /** Where it is labelled, in seconds. */
  readonly ticks: readonly number[];
}

const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600] as const;

/** A tick needs so much room, in rem. */
const tickRoom = 3;

/** The axis from the first thing to the last, the present or what is planned, with some room behind it. */
export function createScale(from: number, to: number, width: number): Scale {
  const lengthMs = Math.max(10_000, (to - from) * 1.1);
  const needed = ((lengthMs / 1000) * tickRoom) / width;
  const step = steps.find((one) => one >= needed) ?? Math.ceil(needed / 3600) * 3600;
  const count = Math.floor((lengthMs / 1000 - (tickRoom / width) * (lengthMs / 1000)) / step) + 1;
  return { from, lengthMs, width, ticks: Array.from({ length: count }, (_, i) => i * step) };
}

/** A text under a bar. */
export interface Label {
  readonly from: number;
  readonly text: string;
  readonly tone: Tone | undefined;
}

/** The width of a text, in rem: rather too much than too little. */
const widthOf = (text: string): number => text.length * 0.46 + 0.7;

/** The labels of a lane for which there is room, from the left; the last one always. */
export function labelsOf({ spans }: Lane, { from, lengthMs, width }: Scale, now: number): Label[] {
  const place = (ms: number): number => ((ms - from) / lengthMs) * width;
  const labels: Label[] = [];
  const ends = (label: Label): number => place(label.from) + widthOf(label.text);
  for (const span of spans) {
    const text = textOf(span);
    if (!text) continue;
    // What would stand out on the right is put as far left as it has to be.
    const last = lengthMs + from - (widthOf(text) / width) * lengthMs;
    const label = { from: Math.min(span.from, last), text, tone: span.tone };
    const isRequest = span.kind === 'request';
    const room = place(span.to ?? now) - place(span.from);
    if (!isRequest && widthOf(text) > room) continue;
    while (
      isRequest &&
      span === spans.at(-1) &&
      labels.some((one) => ends(one) > place(label.from))
    )
      labels.pop();
    if (labels.every((one) => ends(one) <= place(label.from))) labels.push(label);
  }
  return labels;
}

const textOf = ({ kind, label }: Span): string => (kind === 'pause' ? `paused: ${label}` : label);
