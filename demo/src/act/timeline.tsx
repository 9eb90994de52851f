import { type CSSProperties, type RefCallback, useCallback, useEffect, useState } from 'react';
import { type Side, sideNames, sides } from '../api/server.ts';
import { createScale, labelsOf, type Scale } from './scale.ts';
import {
  current,
  describeLanes,
  type Lane,
  type Recording,
  requestsOf,
  type Span,
  startOf,
} from './recording.ts';
import './timeline.css';

/** How often the picture moves, in milliseconds: at every frame it would keep a phone busy. */
const stepMs = 50;
/** For people who want less motion. */
const calmStepMs = 1000;

/** The present, in epoch milliseconds, while something is running. */
function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return undefined;
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const interval = setInterval(() => setNow(Date.now()), isCalm ? calmStepMs : stepMs);
    return () => clearInterval(interval);
  }, [isRunning]);
  return now;
}

/** The width of an element, in the browser's font size. */
function useWidth(): readonly [RefCallback<HTMLDivElement>, number] {
  const [width, setWidth] = useState(40);
  const watch = useCallback((element: HTMLDivElement | null) => {
    if (!element) return undefined;
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
    const observer = new ResizeObserver(() => setWidth(element.clientWidth / rem));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [watch, width];
}

/** Both sides on one time axis: what goes over the wire, and what is waited for. */
export function Timeline({ recording }: { readonly recording: Recording }) {
  const lanes = [...recording.alone, ...recording.steady];
  const isRunning = lanes.some((lane) => !lane.end && current(lane) !== undefined);
  const present = useNow(isRunning);
  const [watch, width] = useWidth();
  const ends = lanes.flatMap(({ from, end, spans }) => [
    from,
    end?.at ?? from,
    ...spans.map((span) => span.to ?? span.from),
  ]);
  const now = Math.max(isRunning ? present : 0, ...ends);
  const start = startOf(recording) ?? present;
  const planned = lanes.map((lane) => (lane.end ? 0 : (current(lane)?.plannedTo ?? 0)));
  const scale = createScale(start, Math.max(start, now, ...planned), width);
  return (
    <section className="timeline" aria-label="What was sent">
      {sides.map((side, index) => (
        <Track
          key={side}
          side={side}
          lanes={recording[side]}
          scale={scale}
          now={now}
          isRunning={isRunning}
          reloads={recording.reloads}
          watch={index === 0 ? watch : undefined}
        />
      ))}
      <div className="axis" aria-hidden="true">
        {scale.ticks.map((tick) => (
          <span key={tick} style={at(scale, start + tick * 1000)}>
            {tick < 120 ? `${tick} s` : `${tick / 60} min`}
          </span>
        ))}
      </div>
      <p className="legend" aria-hidden="true">
        <span>
          <i className="bar" data-kind="request" /> request
        </span>
        <span>
          <i className="bar" data-kind="wait" /> wait
        </span>
        <span>
          <i className="bar" data-kind="pause" /> paused
        </span>
        {recording.reloads.length > 0 && (
          <span>
            <i className="reload" /> page left
          </span>
        )}
      </p>
    </section>
  );
}

interface TrackProps {
  readonly side: Side;
  readonly lanes: readonly Lane[];
  readonly scale: Scale;
  readonly now: number;
  readonly isRunning: boolean;
  readonly reloads: readonly number[];
  readonly watch: RefCallback<HTMLDivElement> | undefined;
}

function Track({ side, lanes, scale, now, isRunning, reloads, watch }: TrackProps) {
  const count = requestsOf(lanes);
  return (
    <div className="track" data-side={side}>
      <p className="track-name">
        <b>{sideNames[side]}</b>
        <span>
          {count} {count === 1 ? 'request' : 'requests'}
        </span>
      </p>
      <div
        ref={watch}
        className="lanes"
        role="img"
        aria-label={`${sideNames[side]}: ${describeLanes(lanes)}.`}
      >
        {(lanes.length > 0 ? lanes : [undefined]).map((lane) => (
          <div key={lane?.id ?? 'none'} className="lane">
            {lane?.spans.map((span) => (
              <Bar key={`${span.kind} ${span.from}`} span={span} scale={scale} now={now} />
            ))}
            {lane &&
              labelsOf(lane, scale, now).map(({ from, text, tone }) => (
                <span key={`${from}`} className="label" data-tone={tone} style={at(scale, from)}>
                  {text}
                </span>
              ))}
          </div>
        ))}
        {reloads.map((reload) => (
          <i key={reload} className="reload" style={at(scale, reload)} />
        ))}
        {isRunning && <i className="now" style={at(scale, now)} />}
      </div>
    </div>
  );
}

/** A span: as long as it has taken, over as long as it is to take. */
function Bar({ span, scale, now }: { readonly span: Span; readonly scale: Scale; now: number }) {
  const { kind, from, to, plannedTo, tone } = span;
  const end = to ?? Math.max(from, now);
  return (
    <>
      {plannedTo !== undefined && to === undefined && (
        <i className="bar" data-kind={kind} data-planned style={at(scale, from, plannedTo)} />
      )}
      <i
        className="bar"
        data-kind={kind}
        data-tone={tone}
        style={at(scale, from, Math.max(end, from))}
      />
    </>
  );
}

/** Where something lies on the time axis, in percent. */
function at(scale: Scale, from: number, to = from): CSSProperties {
  const percent = (ms: number): string => `${((ms / scale.lengthMs) * 100).toFixed(3)}%`;
  return { left: percent(from - scale.from), ...(to > from && { width: percent(to - from) }) };
}
