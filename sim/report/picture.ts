import type { CellResult } from '../experiments/run-experiments.ts';
import { seriesStepMs } from '../figures/series.ts';
import { milestones } from '../model/scenario.ts';
import { show } from './columns.ts';
import { names } from './names.ts';
import { outline, type Plot } from './panel.ts';
import { theme } from './theme.ts';

/** How much of the run is shown before the outage and after recovery. */
const beforeS = 10;
const afterS = 50;

const width = 1000;
const plotX = 210;
const plotWidth = 540;
const top = 96;
const rowHeight = 76;
const plotHeight = 56;
/** Where the columns of figures end. */
const columns = [830, 905, 985] as const;

/** Requests per 100 ms before, during and after an outage: a panel for each policy, on one scale. */
export function drawPicture(title: string, results: readonly CellResult[]): string {
  const drawn = results.filter(({ series }) => series);
  const scenario = drawn[0]?.cell.scenario;
  if (!scenario) throw new Error('Nothing to draw: no run has kept its series.');
  const { outageMs, recoveryMs } = milestones(scenario);
  const fromMs = outageMs - beforeS * 1000;
  const toMs = recoveryMs + afterS * 1000;
  const steady = (scenario.tabs * scenario.rate * seriesStepMs) / 1000;
  const shown = (series: readonly number[]): readonly number[] =>
    series.slice(fromMs / seriesStepMs, toMs / seriesStepMs).map((count) => count / steady);
  const rows = drawn.map(({ cell, figures, series = [] }) => ({
    cell,
    figures,
    load: shown(series),
  }));
  const max = Math.ceil(Math.max(...rows.flatMap(({ load }) => load)));
  const height = top + rows.length * rowHeight + 44;
  const xAt = (atMs: number): number => plotX + ((atMs - fromMs) / (toMs - fromMs)) * plotWidth;
  const bottom = height - 40;
  const outageX = xAt(outageMs);
  const recoveryX = xAt(recoveryMs);

  const panels = rows.map(({ cell, figures, load }, index) => {
    const y = top + index * rowHeight;
    const plot: Plot = { x: plotX, y, width: plotWidth, height: plotHeight, max };
    const ground = y + plotHeight;
    const capacityY = ground - (plotHeight / max) * (1 / scenario.load);
    const [name, about] = names[cell.policy];
    const isNever = figures.promptFromS === null;
    return `
  <text class="name" x="16" y="${y + 36}">${name}</text>
  <text class="faint small" x="16" y="${y + 52}">${about}</text>
  <path class="${cell.policy === 'steadfetch' ? 'ours' : 'load'}" d="${outline(load, plot)}"/>
  <path class="axis" d="M${plotX} ${ground}h${plotWidth}"/>
  <path class="capacity" d="M${plotX} ${capacityY.toFixed(1)}h${plotWidth}"/>
  <text class="figure" x="${columns[0]}" y="${y + 44}">${show.times(figures.outageRatio)} ×</text>
  <text class="figure" x="${columns[1]}" y="${y + 44}">${show.percent(figures.askedInOutageOk)}</text>
  <text class="figure${isNever ? ' bad' : ''}" x="${columns[2]}" y="${y + 44}">${show.fromS(figures.promptFromS)}</text>`;
  });

  const head = (x: number, lines: readonly string[]): string =>
    lines
      .map(
        (line, index) =>
          `<text class="faint small figure" x="${x}" y="${60 + index * 14}">${line}</text>`,
      )
      .join('');
  const tick = (atMs: number, label: string): string =>
    `<text class="faint small middle" x="${xAt(atMs)}" y="${bottom + 16}">${label}</text>`;
  const ticks = [0, 10, 20, 30, 40].map((s) =>
    tick(recoveryMs + s * 1000, s === 0 ? 'recovery' : `+${s} s`),
  );
  const firstRow = top + plotHeight;

  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">
  <style>${theme}</style>
  <rect class="ground" width="${width}" height="${height}" rx="10"/>
  <text class="name" x="16" y="30" font-size="16">${title}</text>
  <rect class="band" x="${outageX}" y="${top - 8}" width="${recoveryX - outageX}" height="${bottom - top + 8}"/>
  <text class="bandText small" x="${(outageX + recoveryX) / 2}" y="${top - 14}">outage</text>
  ${head(columns[0], ['requests', '÷ needed'])}
  ${head(columns[1], ['asked in it,', 'end well'])}
  ${head(columns[2], ['answered in', '1 s, from'])}
  ${panels.join('')}
  <text class="small" x="${plotX + 3}" y="${firstRow - (plotHeight / max) * (1 / scenario.load) - 5}">capacity</text>
  <text class="faint small figure" x="${plotX - 6}" y="${top + 8}">${max} × steady</text>
  ${tick(outageMs, `-${scenario.outageS} s`)}${ticks.join('')}
</svg>
`;
}
