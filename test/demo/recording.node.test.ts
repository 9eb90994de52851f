import { describe, expect, test } from 'vitest';
import { diffLines } from '../../demo/src/act/diff.ts';
import {
  beginLane,
  changeLane,
  describeLanes,
  emptyRecording,
  endLane,
  leave,
  openSpan,
  type Recording,
} from '../../demo/src/act/recording.ts';
import { createScale, labelsOf } from '../../demo/src/act/scale.ts';

const begin = (recording: Recording, id: string, at: number): Recording =>
  beginLane(recording, 'alone', id, at);
const request = (recording: Recording, id: string, from: number, to: number, label: string) =>
  changeLane(recording, 'alone', id, (lane) =>
    openSpan(lane, { kind: 'request', from, to, label, tone: 'bad' }),
  );

describe('a recording', () => {
  test('keeps every span of a line, and at most so many lines and spans', () => {
    let recording = emptyRecording;
    for (let lane = 0; lane < 30; lane += 1) recording = begin(recording, `${lane}`, lane);
    expect(recording.alone.map(({ id }) => id).slice(0, 2)).toEqual(['6', '7']);
    for (let at = 0; at < 100; at += 1) recording = request(recording, '29', at, at + 1, '503');
    expect(recording.alone.at(-1)?.spans.length).toBe(80);
  });

  test('says what was under way when the page was left, and goes on with what comes back', () => {
    const sending = changeLane(begin(emptyRecording, 'a', 0), 'alone', 'a', (lane) =>
      openSpan(lane, { kind: 'request', from: 0, label: '' }),
    );
    const left = leave(sending, 500);
    expect(describeLanes(left.alone)).toBe('cancelled, left');
    expect(left.reloads).toEqual([500]);
    const back = request(left, 'a', 900, 1000, '201');
    const ended = changeLane(back, 'alone', 'a', (lane) => endLane(lane, 1000, 'answered'));
    expect(describeLanes(ended.alone)).toBe('cancelled, 201');
  });

  test('does not change what it has not begun', () => {
    expect(request(emptyRecording, 'a', 0, 1, '503')).toEqual(emptyRecording);
  });
});

describe('labels', () => {
  const texts = (width: number): string[] => {
    let recording = begin(emptyRecording, 'a', 0);
    for (const at of [0, 400, 800, 1200])
      recording = request(recording, 'a', at, at + 100, `${at}`);
    const [lane] = recording.alone;
    return lane ? labelsOf(lane, createScale(0, 10_000, width), 1300).map(({ text }) => text) : [];
  };

  test('are all there where there is room', () => {
    expect(texts(100)).toEqual(['0', '400', '800', '1200']);
  });

  test('give way to the last one where there is none', () => {
    expect(texts(20)).toEqual(['0', '1200']);
  });
});

test('two texts differ in the lines that are not in both, in order', () => {
  const { removed, added } = diffLines('a\nb\nc\nd\n', 'a\nx\nc\ny\nd\n');
  expect([...removed]).toEqual([2]);
  expect([...added]).toEqual([2, 4]);
});
