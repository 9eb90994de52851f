/** Something that lasts until the next one in its row. */
export interface Span {
  readonly atMs: number;
  /** What colours it: a status. */
  readonly kind: string;
  readonly label: string;
}

/** A request, at its answer. */
export interface Mark {
  readonly atMs: number;
  readonly kind: 'ok' | 'bad';
  readonly label: string;
  readonly isCanary?: boolean;
}

/** A measure below a row. */
export interface Note {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}

/** A row of a picture. */
export interface Row {
  readonly name: string;
  readonly about?: string;
  readonly spans?: readonly Span[];
  readonly marks?: readonly Mark[];
  readonly notes?: readonly Note[];
  /** A value that changes in steps, from 0 to `max`. */
  readonly steps?: readonly { readonly atMs: number; readonly value: number }[];
  readonly max?: number;
}

export interface Picture {
  readonly title: string;
  readonly endMs: number;
  readonly tickMs: number;
  readonly rows: readonly Row[];
}

const width = 760;
const left = 124;
const right = 16;
const plotWidth = width - left - right;
const top = 44;

/**
 * The colours, by day and by night. A picture brings a ground of its own: an image in a page does
 * not know whether the page is dark, only whether the system is.
 */
const theme = `
  svg { font: 12px system-ui, sans-serif; --ground: #fff; --text: #1f2430; --faint: #5f6878;
    --line: #d5d9e0; --good: #0d7a6f; --bad: #b3261e; --accent: #1d6fd8; --up: #dcf0ec;
    --down: #f6dedb; --wait: #fbeccb; --hold: #e6e1f7; --send: #d7e6fa; }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #14171d; --text: #e8ebf1; --faint: #9aa3b4; --line: #333945; --good: #4fcbb9;
      --bad: #ff8a7e; --accent: #6fb0ff; --up: #123b36; --down: #4a2320; --wait: #453512;
      --hold: #332b57; --send: #1b3658; }
  }
  text { fill: var(--text); } .title { font-size: 14px; font-weight: 600; } .name { font-weight: 600; }
  .small { font-size: 11px; } .faint { fill: var(--faint); } .middle { text-anchor: middle; }
  .end { text-anchor: end; } .grid { stroke: var(--line); } .ground { fill: var(--ground); }
  .ok { fill: var(--good); } .bad { fill: var(--bad); } .measure { stroke: var(--faint); fill: none; }
  .steps { stroke: var(--accent); stroke-width: 2; fill: none; }
  .up, .succeeded { fill: var(--up); } .down, .failed { fill: var(--down); } .waiting { fill: var(--wait); }
  .paused, .rate-limited { fill: var(--hold); } .sending, .recovering { fill: var(--send); }
`;

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
/** About as wide as it is at 11 px. */
const widthOf = (text: string): number => text.length * 5.7 + 6;

function drawRow(row: Row, y: number, { endMs }: Picture): { svg: string; height: number } {
  const { name, about, spans = [], marks = [], notes = [], steps, max = 1 } = row;
  const x = (atMs: number): number => Math.round((left + (atMs / endMs) * plotWidth) * 10) / 10;
  const text = (at: number, line: number, style: string, words: string): string =>
    `<text class="${style}" x="${at}" y="${line}">${escape(words)}</text>`;
  const barY = y + (marks.length > 0 ? 36 : 8);
  const parts: string[] = [];
  const lasting = spans.filter(({ atMs }, index) => (spans[index + 1]?.atMs ?? endMs) > atMs);
  const seen = lasting.filter(({ label }, index) => label !== lasting[index - 1]?.label);
  seen.forEach(({ atMs, kind, label }, index) => {
    const from = x(atMs);
    const wide = x(Math.min(endMs, seen[index + 1]?.atMs ?? endMs)) - from;
    parts.push(
      `<rect class="${kind}" x="${from}" y="${barY}" width="${wide.toFixed(1)}" height="18" rx="3"/>`,
    );
    const short = [label, ...label.split(': ').toReversed()].find(
      (words) => widthOf(words) <= wide,
    );
    if (short) parts.push(text(from + 5, barY + 13, 'small', short));
  });
  let freeX = 0;
  for (const { atMs, kind, label, isCanary } of marks) {
    const at = x(atMs);
    const place = `transform="translate(${at} ${barY - 8})"`;
    parts.push(
      isCanary
        ? `<path class="${kind}" ${place} d="M0-7 6 0 0 7-6 0Z"/>`
        : `<circle class="${kind}" ${place} r="5"/>`,
    );
    // What would overlap the label before is left to the mark.
    const half = widthOf(label) / 2;
    if (at - half >= freeX) {
      parts.push(text(at, barY - 18, `small middle ${kind}`, label));
      freeX = at + half - 4;
    }
  }
  let bottom = barY + 18;
  if (steps) {
    const tall = 84;
    const level = (value: number): number =>
      Math.round((barY + tall - (value / max) * tall) * 10) / 10;
    const path = steps.map(({ atMs, value }, index) =>
      index === 0 ? `M${x(atMs)} ${level(value)}` : `H${x(atMs)}V${level(value)}`,
    );
    for (const value of [0, max]) {
      parts.push(`<path class="grid" d="M${left} ${level(value)}H${width - right}"/>`);
      parts.push(text(left - 6, level(value) + 4, 'small faint end', String(value)));
    }
    parts.push(`<path class="steps" d="${path.join('')}H${width - right}"/>`);
    bottom = barY + tall;
  }
  for (const { fromMs, toMs, text: words } of notes) {
    const line = bottom + 9;
    parts.push(
      `<path class="measure" d="M${x(fromMs)} ${line - 4}v8m0-4H${x(toMs)}m0-4v8"/>`,
      text(Math.max(x(fromMs), left), line + 16, 'small faint', words),
    );
  }
  if (notes.length > 0) bottom += 26;
  const nameY = steps ? barY + 36 : barY + 13;
  parts.push(text(16, about === undefined ? nameY : nameY - 4, 'name', name));
  if (about !== undefined) parts.push(text(16, nameY + 10, 'small faint', about));
  return { svg: parts.join('\n  '), height: bottom - y + 10 };
}

/** Draws what has been recorded: rows over one axis of time, each thing with its own label. */
export function draw(picture: Picture): string {
  const { title, endMs, tickMs, rows } = picture;
  let y = top;
  const drawn = rows.map((row) => {
    const { svg, height } = drawRow(row, y, picture);
    y += height;
    return svg;
  });
  const ticks = Array.from({ length: Math.floor(endMs / tickMs) + 1 }, (_, index) => {
    const x = left + ((index * tickMs) / endMs) * plotWidth;
    const label = `${(index * tickMs) / 1000} s`;
    return `<path class="grid" d="M${x.toFixed(1)} ${top}V${y}"/><text class="small faint middle" x="${x.toFixed(1)}" y="${y + 16}">${label}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 28}" role="img" aria-label="${escape(title)}">
  <style>${theme}</style>
  <rect class="ground" width="${width}" height="${y + 28}" rx="10"/>
  <text class="title" x="16" y="26">${escape(title)}</text>
  ${ticks.join('\n  ')}
  ${drawn.join('\n  ')}
</svg>
`;
}
