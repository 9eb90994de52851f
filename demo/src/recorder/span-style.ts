import type { CSSProperties } from 'react';
import type { Scale } from './scale.ts';

/** Custom properties besides React's own style properties. */
type Style = CSSProperties & Record<`--${string}`, number>;

/** Where something lies on the time axis, in milliseconds from its beginning; recorder.css draws it. */
export function spanStyle(scale: Scale, from: number, to: number = from): Style {
  return { '--from': from - scale.from, '--to': Math.max(from, to) - scale.from };
}

/** The length of the time axis, for everything that lies on it. */
export function scaleStyle(scale: Scale): Style {
  return { '--length': scale.to - scale.from };
}
