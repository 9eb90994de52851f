import type { EngineName } from './engines.ts';

export type Suite = 'browser' | 'e2e';

/** Scenarios that an engine does not pass, or cannot be driven through. */
export interface Difference {
  readonly suite: Suite;
  /** The file, without its ending, below the folder of the suite. */
  readonly file: string;
  /** Matches the names of the tests. */
  readonly test: RegExp;
  /** `engine`: it behaves otherwise. `driver`: it cannot be driven to this. */
  readonly kind: 'engine' | 'driver';
  /** As a sentence. */
  readonly why: string;
  /** Not run, because it would only wait for its time limit. */
  readonly isHang?: true;
}

const grown: Difference = {
  suite: 'browser',
  file: 'own-side',
  test: /^a file that was changed is|^a form with a file that was changed|^a changed file with|^the error of a file names it|^with axios the error is/,
  kind: 'engine',
  why: 'Firefox reads a file that has grown since it was selected, and sends it under its old length.',
};

/** Of both files with styles, in Firefox and WebKit. */
const media: readonly Difference[] = [
  {
    suite: 'browser',
    file: 'ui',
    test: /in dark|forced colours: active|^in forced colours/,
    kind: 'driver',
    why: 'The driver cannot make the browser prefer dark or forced colours.',
  },
  {
    suite: 'browser',
    file: 'devtools',
    test: /^in forced colours/,
    kind: 'driver',
    why: 'The driver cannot make the browser use forced colours.',
  },
];

const cdp: readonly Difference[] = [
  {
    suite: 'e2e',
    file: 'offline',
    test: /./,
    kind: 'driver',
    why: "Cuts a page off from the network, and freezes it, by the DevTools protocol, which is Chromium's.",
  },
  {
    suite: 'e2e',
    file: 'form',
    test: /the page crashes/,
    kind: 'driver',
    why: 'Crashes a page by the DevTools protocol.',
  },
  {
    suite: 'e2e',
    file: 'outage',
    test: /./,
    kind: 'engine',
    why: 'Of each attempt whose connection breaks off, the server sees ten requests, which Firefox sends by itself: 640 where it sees 64 of Chromium.',
  },
  {
    suite: 'e2e',
    file: 'form',
    test: /brings it back as it was/,
    kind: 'engine',
    why: 'Firefox does not keep the page in its back-forward cache; loaded anew, it ends as well.',
  },
  {
    suite: 'e2e',
    file: 'outbox-storage',
    test: /^over its quota|^its database is deleted under it by the user/,
    kind: 'driver',
    why: 'Fills the quota of a site, and clears its data, by the DevTools protocol.',
  },
  {
    suite: 'e2e',
    file: 'outbox-sync',
    test: /./,
    kind: 'engine',
    why: 'Firefox has no Background Sync: what a page has left goes when a page of the site is open again.',
  },
];

/** Tabs beside each other. */
const tabsInFirefox: readonly Difference[] = [
  {
    suite: 'e2e',
    file: 'tabs',
    test: /the probe of one is answered|is gone \((close|freeze)\)|is hidden, another does/,
    kind: 'engine',
    why: 'Firefox sends a GET whose connection breaks off again by itself, up to ten times, so that the server sees more than the one probe.',
  },
  {
    suite: 'e2e',
    file: 'tabs',
    test: /.*is gone \(crash\)/,
    kind: 'driver',
    why: 'The driver cannot crash a page.',
    isHang: true,
  },
  {
    suite: 'e2e',
    file: 'tabs',
    test: /.*keeps a page that shares/,
    kind: 'driver',
    why: 'Driven, Firefox does not keep a page in its back-forward cache.',
    isHang: true,
  },
];

/** The pages of the demo. */
const demoInFirefox: readonly Difference[] = [
  {
    suite: 'e2e',
    file: 'page',
    test: /^in the dark scheme the page/,
    kind: 'driver',
    why: 'The driver cannot make the browser prefer dark.',
  },
  {
    suite: 'e2e',
    file: 'page',
    test: /shows the code that runs, .* to copy$/,
    kind: 'driver',
    why: 'The driver cannot permit a test to read the clipboard.',
  },
  {
    suite: 'e2e',
    file: 'storm',
    test: /the install line is copied/,
    kind: 'driver',
    why: 'The driver cannot permit a test to read the clipboard.',
  },
  {
    suite: 'e2e',
    file: 'storm',
    test: /in forced colours|who prefers no motion|by keyboard alone, another outage/,
    kind: 'driver',
    why: 'The driver cannot make the browser use forced colours, or prefer no motion.',
  },
  {
    suite: 'e2e',
    file: 'static-site',
    test: /can be read on every screen/,
    kind: 'engine',
    why: 'Firefox on a desktop has a scroll bar of 12 px in each window, and the generator of the docs makes no page narrower than 320 px. On a phone the bar takes no room.',
  },
  {
    suite: 'e2e',
    file: 'read',
    test: /no answer: Steadfetch gives the request up/,
    kind: 'driver',
    why: 'The driver tells of a request that hangs in a service worker only at its end.',
  },
];

const firefox: readonly Difference[] = [
  ...media,
  ...cdp,
  ...tabsInFirefox,
  ...demoInFirefox,
  grown,
  {
    suite: 'browser',
    file: 'own-side',
    test: /^a stream over HTTP\/1\.1|^a stream of the app that fails/,
    kind: 'engine',
    why: 'Firefox has no streams as the body of a request: it sends the text `[object ReadableStream]`.',
  },
  {
    suite: 'browser',
    file: 'broken-connections',
    test: /^a connection that ends in "(reset|close)"/,
    kind: 'engine',
    why: 'Firefox sends a GET whose connection breaks off again by itself, up to ten times; all of them are one attempt.',
  },
  {
    suite: 'browser',
    file: 'broken-connections',
    test: /^the broken body of a 503/,
    kind: 'engine',
    why: 'In Firefox the body of a failure that is cut off ends as if it were whole.',
  },
  {
    suite: 'browser',
    file: 'cached-failure',
    test: /^the browser answers a plain second request/,
    kind: 'engine',
    why: 'Firefox keeps no 503 in its cache.',
  },
  {
    suite: 'browser',
    file: 'faults',
    test: /^a cut body fails/,
    kind: 'engine',
    why: 'In Firefox a body of a service worker that breaks off rejects with an AbortError. `steady.fetch` makes it the NetworkError that it is.',
  },
  {
    suite: 'browser',
    file: 'hot-update',
    test: /^Turbopack/,
    kind: 'engine',
    why: 'The stacks of Firefox do not show the name that Turbopack gives to the body of a module: in development, edit after edit keeps its instance.',
  },
];

const webkit: readonly Difference[] = [
  ...media,
  {
    suite: 'browser',
    file: 'broken-connections',
    test: /^a body broken off by "cut" \(open\)|^with limits on silence a broken body|^the broken body of a 503/,
    kind: 'engine',
    why: 'In WebKit a chunked body that the server cuts off ends as if it were whole. With `content-length` it is a broken body; half a JSON is one that cannot be parsed, which is sent again where that is safe; half a text cannot be told.',
  },
  {
    suite: 'browser',
    file: 'csp',
    test: /^a (GET|POST) that the CSP|^a block is known|^a redirect that the CSP|^a network failure stays/,
    kind: 'driver',
    why: 'WebKit enforces no policy that a script adds to its page. The scenario below, with a header, passes there.',
  },
  {
    suite: 'browser',
    file: 'csp',
    test: /^only a report of the same URL.*after the rejection|^an abort before the browser has told/,
    kind: 'engine',
    why: 'What Chromium does: WebKit reports a block before it rejects the request.',
  },
  {
    suite: 'browser',
    file: 'csp',
    test: /^the browser tells of a CSP block only one task after/,
    kind: 'engine',
    why: 'What Chromium does: WebKit reports a block before it rejects the request.',
    isHang: true,
  },
  {
    suite: 'browser',
    file: 'hot-update',
    test: /./,
    kind: 'engine',
    why: 'The stacks of WebKit show no query of an address, by which dev servers tell the versions of a module: in development, edit after edit keeps its instance.',
  },
  {
    suite: 'browser',
    file: 'faults',
    test: /^(cutBody sends|a cut body)/,
    kind: 'engine',
    why: 'WebKit cannot pass a stream to a service worker, so MSW reads a body to its end first, and one that breaks off never arrives: `cutBody` hangs there.',
    isHang: true,
  },
  {
    suite: 'browser',
    file: 'faults',
    test: /^a request that hangs is ended by its abort/,
    kind: 'engine',
    why: 'In WebKit `fetch` rejects with an AbortError, whatever the reason of the abort. `steady.fetch` rejects with the reason.',
  },
  {
    suite: 'browser',
    file: 'cached-failure',
    test: /^the browser answers a plain second request/,
    kind: 'engine',
    why: 'WebKit keeps no 503 in its cache.',
  },
  {
    suite: 'browser',
    file: 'cache-lock',
    test: /^a second read of a URL waits/,
    kind: 'engine',
    why: 'In WebKit a second read of a URL does not wait for the first.',
  },
  {
    suite: 'browser',
    file: 'resend',
    test: /^a browser resends by itself/,
    kind: 'engine',
    why: 'WebKit does not send a POST again whose connection was closed when it was used again.',
  },
  {
    suite: 'browser',
    file: 'as-native',
    test: /signal that is none/,
    kind: 'engine',
    why: 'WebKit takes any object for a signal; `steady.fetch` refuses it with a TypeError, as the standard does.',
  },
  {
    suite: 'browser',
    file: 'as-native',
    test: /^a stream of an answer/,
    kind: 'engine',
    why: 'WebKit has no streams as the body of a request: it refuses them with a NotSupportedError, which is the `cause` of a NetworkError.',
  },
  {
    suite: 'browser',
    file: 'own-side',
    test: /^a miss of only-if-cached/,
    kind: 'engine',
    why: 'WebKit asks the server, whatever `only-if-cached` says.',
  },
];

export const differences: Readonly<Record<EngineName, readonly Difference[]>> = {
  chromium: [],
  firefox,
  webkit,
};

/** What an engine is known to do otherwise in a test; the name of a test is its own, without its file. */
export const differenceOf = (
  engine: EngineName,
  suite: Suite,
  file: string,
  test: string,
): Difference | undefined =>
  differences[engine].find(
    (one) => one.suite === suite && one.file === file && one.test.test(test),
  );

/** A pattern of the tests to run: all but those that would hang. */
export function notHanging(engine: EngineName): RegExp {
  const hanging = differences[engine].filter(({ isHang }) => isHang);
  return new RegExp(`^(?!${hanging.map(({ test }) => `(?:${test.source})`).join('|') || '$'})`);
}
