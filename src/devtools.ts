export {
  SteadfetchDevtools,
  SteadfetchDevtoolsPanel,
  steadfetchDevtoolsPlugin,
} from './devtools/in-development.tsx';
export type { SteadfetchDevtoolsPlugin } from './devtools/in-development.tsx';
export type { SteadfetchDevtoolsProps } from './devtools/devtools.tsx';
export type { SteadfetchDevtoolsPanelProps } from './devtools/plugin.tsx';
export type { DevtoolsTheme } from './devtools/shadow.tsx';
export type { InspectedEndpoint } from './devtools/endpoints.ts';
export { inspect } from './devtools/inspect.ts';
export type {
  InspectedLimit,
  InspectedOperation,
  InspectedOrigin,
  InspectedTabs,
  Inspection,
} from './devtools/inspect.ts';
export type { DecidingOption } from './devtools/levels.ts';
export { record } from './devtools/recording/record.ts';
export type { Recorder, RecordOptions } from './devtools/recording/record.ts';
export type { RecordedError, RecordedEvent } from './devtools/recording/recording.ts';
