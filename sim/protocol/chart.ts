import { theme } from '../report/theme.ts';
import type { Step } from './spin.ts';

/** The parts of a model, from the user to the server. */
const parts: Readonly<Record<string, string>> = {
  user: 'user',
  1: 'tab 1',
  2: 'tab 2',
  3: 'service worker',
  disk: 'disk',
  net: 'network',
  srv: 'server',
};

/** As they stand beside each other. */
const order = ['user', '1', '2', '3', 'disk', 'net', 'srv'];
const laneWidth = 150;
const rowHeight = 34;
const topHeight = 70;

const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** Draws the way to a fault: a lane for each part, a row for each step. */
export function drawSteps(title: string, fault: string, steps: readonly Step[]): string {
  const seen = new Set(steps.flatMap(({ from, to }) => [from, to]));
  const lanes = order.filter((part) => seen.has(part));
  const width = Math.max(lanes.length * laneWidth, 620) + 20;
  const height = topHeight + (steps.length + 1) * rowHeight + 10;
  const x = (part: string): number => 10 + laneWidth * (Math.max(lanes.indexOf(part), 0) + 0.5);
  const y = (row: number): number => topHeight + (row + 1) * rowHeight;
  const heads = lanes.map(
    (part) =>
      `<text class="name middle" x="${x(part)}" y="56">${parts[part]}</text>` +
      `<path class="axis" d="M${x(part)} 64V${height - rowHeight - 8}"/>`,
  );
  const rows = steps.map((step, row) => drawStep(step, y(row), x, lanes));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(title)}">`,
    `<style>${theme}</style>`,
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto-start-reverse"><path class="ours" d="M0 0L8 4L0 8z"/></marker></defs>',
    `<rect class="ground" width="${width}" height="${height}" rx="10"/>`,
    `<text class="name" x="16" y="26">${escape(title)}</text>`,
    ...heads,
    ...rows,
    `<text class="bad" x="16" y="${height - 16}">${escape(fault)}</text>`,
    '</svg>\n',
  ].join('\n');
}

function drawStep(
  { from, to, text }: Step,
  y: number,
  x: (part: string) => number,
  lanes: readonly string[],
): string {
  const shown = `<text class="small middle" x="AT" y="${y - 6}">${escape(text)}</text>`;
  if (from === 'world') return `<text class="small faint" x="16" y="${y}">${escape(text)}</text>`;
  // What is lost, or comes too late, ends half-way.
  const end = to === 'x' ? x(from) - laneWidth / 2 : x(to);
  const line =
    from === to
      ? `<circle class="ours" cx="${x(from)}" cy="${y}" r="4"/>`
      : `<path stroke="var(--ours)" fill="none" ${to === 'x' ? 'stroke-dasharray="4 3"' : 'marker-end="url(#tip)"'} d="M${x(from)} ${y}H${end}"/>`;
  // Beside a lane at the edge the text stays within the picture.
  const middle = (x(from) + end) / 2;
  const least = 10 + text.length * 3;
  const most = x(lanes.at(-1) ?? '') + laneWidth / 2 - text.length * 3;
  return line + shown.replace('AT', `${Math.max(least, Math.min(middle, most))}`);
}
