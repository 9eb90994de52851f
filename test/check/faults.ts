import type { Settings } from '../../src/check/settings.ts';

/** One mistake of a server, and the requirement that is meant to find it. */
export interface Fault {
  readonly mistake: string;
  readonly foundBy: string;
  /** What such a server declares, or how it is called, where that is not as usual. */
  readonly settings?: Partial<Pick<Settings, 'method' | 'hasCredentials'>> & {
    readonly declared?: Partial<Settings['declared']>;
  };
}

const fault = (foundBy: string, mistake: string, settings?: Fault['settings']): Fault => ({
  foundBy,
  mistake,
  ...(settings && { settings }),
});

/** Mistakes that servers make, each a switch of the server beside this file. */
export const faults = {
  'ignores-key': fault('replay-once', 'the key is ignored'),
  'replay-200': fault('replay-status', 'a replay has status 200 in place of 201'),
  'replay-new-time': fault('replay-body', 'a replay has the time of the replay in its body'),
  'replay-reformatted': fault('replay-body', 'a replay is serialised anew, with other white space'),
  'replay-untyped': fault('replay-content-type', 'a replay has no Content-Type'),
  'replay-without-location': fault('replay-location', 'headers are not stored'),
  'replay-consumed': fault('replay-repeatable', 'a replay removes the key'),
  'replay-unmarked': fault('replay-marked', 'the declared header of a replay is missing'),
  'all-marked': fault('first-not-marked', 'first answers are marked as replays'),
  'replay-cookie': fault(
    'replay-no-cookie',
    'a replay sets the session cookie of the first answer',
  ),
  'hashes-headers': fault('replay-other-headers', 'the fingerprint has all headers in it'),
  'replay-gzip': fault('replay-encoding', 'the compressed bytes are stored'),
  'scope-token': fault('renewed-credentials', 'keys belong to a token, not to its user'),
  'dedupes-content': fault('new-key-runs', 'the key is made from the content'),
  'checks-then-acts': fault('race-once', 'the key is looked up, and written after the handler'),
  'race-500': fault('race-answers', 'the loser of a race gets the error of a unique index, 500'),
  'race-stub': fault('race-after', 'the loser of a race overwrites the stored answer'),
  'key-and-bytes': fault('race-other-bytes', 'the key of the store has the bytes in it'),
  'one-slot': fault('parallel-keys', 'the answer is kept in a variable that requests share'),
  'short-lock': fault('slow-once', 'the lock is shorter than the handler'),
  'forgets-waiters': fault(
    'slow-answer',
    'the key is removed when a request was refused meanwhile',
  ),
  'global-lock': fault('slow-other-key', 'one lock for all keys'),
  'accepts-while-running': fault('slow-other-bytes', 'while one runs, all others get 202'),
  'no-retry-after': fault('in-progress-retry-after', 'a 409 has no Retry-After'),
  'bare-409': fault('in-progress-problem', 'a 409 has no body'),
  'running-423': fault('in-progress-status', 'while one runs, the status is 423'),
  'no-fingerprint': fault('mismatch-refused', 'other bytes get the stored answer'),
  'mismatch-400': fault('mismatch-refused', 'other bytes get 400, and 422 is declared'),
  'mismatch-after-effect': fault('mismatch-not-run', 'bytes are compared after the effect'),
  'mismatch-overwrites': fault('mismatch-keeps-first', 'a refusal is stored over the answer'),
  'mismatch-leaks': fault('mismatch-shows-nothing', 'a refusal quotes the stored answer'),
  'bare-422': fault('mismatch-problem', 'a 422 has no body'),
  'hashes-length': fault('mismatch-same-length', 'only lengths are compared'),
  'hashes-top-level': fault(
    'mismatch-nested',
    'JSON.stringify with a list of names drops what is nested',
  ),
  'hashes-one-field': fault('mismatch-any-field', 'one field of the body is compared'),
  'empty-matches': fault(
    'mismatch-empty',
    'an empty body counts as not given, and is not compared',
  ),
  'hashes-no-query': fault('mismatch-query', 'the query is not compared'),
  'cuts-body': fault('large-body', 'a body over 32 kB is cut, and fails with 500'),
  'hashes-beginning': fault('large-body-end', 'the first kilobyte is compared'),
  'hashes-content-length': fault('chunked-body', 'the fingerprint has Content-Length in it'),
  'stores-latin1': fault('unicode-body', 'answers are stored as Latin-1'),
  'empty-500': fault('empty-body', 'an empty body fails with 500'),
  'no-key-runs': fault('key-missing-refused', 'a request without a key is done'),
  'no-key-after-effect': fault('key-missing-not-run', 'the key is looked for after the effect'),
  'bare-400': fault('key-missing-problem', 'a 400 has no body'),
  'no-key-is-empty-key': fault('no-key-each-runs', 'requests without a key share an empty one', {
    declared: { key: 'optional' },
  }),
  'takes-empty-key': fault('key-empty', 'an empty key counts as none, and the request is done'),
  'shares-empty-key': fault('key-empty-not-shared', 'an empty key is a key'),
  'takes-unquoted': fault('key-unquoted', 'quotes are stripped if they are there'),
  'takes-tokens': fault('key-not-string', 'any text is a key'),
  'field-is-key': fault('key-parameters', 'the whole field is the key, with its parameters'),
  'no-escapes': fault('key-escapes', 'a key with a backslash is refused'),
  'first-of-two': fault('key-twice', 'of two keys the first is taken'),
  'takes-latin1': fault('key-not-ascii', 'any byte may be in a key'),
  'exact-header-name': fault('key-header-case', 'the name of the header is compared as written'),
  'key-lowercase': fault('key-case', 'the index of the store ignores case'),
  'key-35': fault('key-last-character', 'the column of the key holds 35 characters'),
  'key-trimmed': fault('key-space', 'the key is trimmed'),
  'plain-object': fault('key-names', 'a plain object is the store'),
  'key-pattern': fault('key-patterns', 'the key is looked up as a pattern'),
  'uuid-only': fault('key-longest', 'a key of 64 characters is refused'),
  'any-length': fault('key-too-long', 'a key may be of any length, and 255 is declared'),
  'key-255': fault('key-not-cut', 'a key is cut at 255 characters'),
  'no-scope': fault('other-user-own', 'keys belong to no user'),
  'owner-422': fault('other-user-runs', 'the key of another user is refused'),
  'shared-fingerprint': fault('other-user-bytes', 'bytes are compared across users'),
  'owner-takes-over': fault('other-user-keeps-first', 'the key belongs to its last user'),
  'replays-before-auth': fault('no-credentials', 'keys are looked up before credentials'),
  'stores-401': fault('unauthorized-not-stored', 'a 401 is stored'),
  'path-ignored': fault('other-path', 'keys are the same at all paths'),
  'method-ignored': fault('other-method', 'keys are the same for all methods'),
  'forgets-refusal': fault('refusal-kept', 'a 4xx is not stored, and that is declared'),
  'refusal-blocks': fault('refusal-settled', 'the lock stays after a 4xx'),
  'stores-failure': fault('failure-kept', 'a 5xx is stored, and the contrary is declared'),
  'failure-blocks': fault('failure-settled', 'the lock stays after a 5xx'),
  'failure-with-effect': fault('failure-once', 'what failed has had its effect, and runs again'),
  'no-rollback': fault('late-failure-once', 'an effect before a failure stays, and happens again'),
  'crash-blocks': fault('crash-settled', 'the lock of a crash has no end'),
  'crash-with-effect': fault('crash-once', 'effect and key are not one transaction'),
  'claims-before-body': fault('lost-request', 'the lock is taken before the body has arrived'),
  'gone-client-forgets': fault('lost-answer', 'a closed connection removes the key'),
  'stores-when-sent': fault('lost-body', 'the answer is stored once it has been sent'),
  'gone-client-unlocks': fault('lost-while-running', 'a closed connection releases the lock'),
  'in-memory': fault('survives-restart', 'keys are lost by a restart'),
  'expires-early': fault('kept-for-lifetime', 'a key is kept for half of its lifetime'),
  'lifetime-slides': fault('kept-though-replayed', 'each replay starts the lifetime anew'),
  'cors-no-key': fault('cors-key-allowed', 'the preflight does not allow the key'),
  'cors-401': fault('cors-key-allowed', 'the preflight needs credentials'),
  'cors-no-patch': fault('cors-method-allowed', 'the preflight does not allow PATCH', {
    method: 'PATCH',
  }),
  'cors-not-on-replay': fault('cors-answer', 'a replay has no CORS headers'),
  'cors-not-on-4xx': fault('cors-refusal', 'a refusal has no CORS headers'),
  'cors-no-expose': fault('cors-retry-after', 'Retry-After is not exposed'),
  'cors-no-marker': fault('cors-replay-marker', 'the mark of a replay is not exposed'),
  'cors-no-credentials': fault('cors-credentials', 'credentials are not allowed', {
    hasCredentials: true,
  }),
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
