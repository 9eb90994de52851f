/** How often each trouble of a model may come; none where it is left out. */
export type Troubles = Readonly<Record<string, number>>;

/** A protocol that lacks one thing, and the least world in which that breaks it. */
export interface Variant {
  readonly model: 'form' | 'outbox';
  /** The name that the models know it by. */
  readonly name: string;
  /** Which sentence of the table it breaks, and how it is weaker. */
  readonly title: string;
  readonly troubles: Troubles;
  /** It breaks no assertion: something waits for ever. */
  readonly isLive?: boolean;
}

/** A search of all that can happen. */
export interface Search {
  readonly model: 'form' | 'outbox';
  readonly title: string;
  readonly troubles: Troubles;
  readonly kind: 'all' | 'live' | 'bits';
}

const outboxTroubles: Troubles = {
  DOUBLES: 1,
  CRASHES: 1,
  HANDLER_CRASHES: 1,
  EARLY_ENDS: 1,
  TAKEOVERS: 1,
};

/** Each as large as a machine with 8 GB searches whole; what is larger is sampled. */
export const searches: readonly Search[] = [
  {
    model: 'form',
    title: 'a form, its reload, and a copy of its tab',
    troubles: { CRASHES: 1, COPIES: 1 },
    kind: 'all',
  },
  {
    model: 'form',
    title: 'a form, its reload, a proxy that doubles, handlers that crash or are late, old keys',
    troubles: { DOUBLES: 1, CRASHES: 1, HANDLER_CRASHES: 1, EARLY_ENDS: 1, AGES: 1 },
    kind: 'all',
  },
  {
    model: 'form',
    title: 'a form: what is pressed ends once all is well',
    troubles: { CRASHES: 1, HANDLER_CRASHES: 1 },
    kind: 'live',
  },
  {
    model: 'outbox',
    title: 'two tabs, two orders of one scope',
    troubles: outboxTroubles,
    kind: 'all',
  },
  {
    model: 'outbox',
    title: 'the same with old keys, and "send again" after a refusal',
    troubles: { CRASHES: 1, TAKEOVERS: 1, RETRIES: 1, AGES: 1 },
    kind: 'all',
  },
  {
    model: 'outbox',
    title: 'two tabs; Ann signs out, Ben signs in and orders',
    troubles: { CRASHES: 1, TAKEOVERS: 1, LOGOUT: 1 },
    kind: 'all',
  },
  {
    model: 'outbox',
    title: 'two tabs: what is saved ends once all is well',
    troubles: { CRASHES: 1, HANDLER_CRASHES: 1, TAKEOVERS: 1 },
    kind: 'live',
  },
  {
    model: 'outbox',
    title: 'two tabs and a service worker; each trouble once, and the log-out',
    troubles: { ...outboxTroubles, SENDERS: 3, RETRIES: 1, AGES: 1, LOGOUT: 1 },
    kind: 'bits',
  },
];

const ofForm = (name: string, title: string, troubles: Troubles = {}): Variant => ({
  model: 'form',
  name,
  title,
  troubles,
});
const ofOutbox = (name: string, title: string, troubles: Troubles = {}): Variant => ({
  model: 'outbox',
  name,
  title,
  troubles,
});

export const variants: readonly Variant[] = [
  ofForm('KEY_PER_PRESS', 'Each press of Submit has a new key'),
  ofForm('NOT_KEPT_FIRST', 'The key is not kept before the request goes', { CRASHES: 1 }),
  ofForm('UNKNOWN_IS_FORGOTTEN', 'An unknown outcome is forgotten'),
  ofForm('TIMEOUT_IS_FAILURE', 'A time-out is told as a failure'),
  ofForm('REFUSAL_IS_FINAL', 'A refusal after a lost answer is told as a failure'),
  ofForm('EXPIRED_KEY_IS_SENT', 'A key is sent that the API may have forgotten', { AGES: 1 }),
  ofForm('COPIED_WHILE_SENDING', 'A tab is copied while it sends', { COPIES: 1 }),
  ofOutbox('KEY_PER_ATTEMPT', 'Each attempt has a new key'),
  ofOutbox('NEW_KEY_WHEN_BUSY', 'A 409 is answered with a new key'),
  ofOutbox('NO_NOTE_BEFORE_SENDING', 'Nothing is noted before a request goes'),
  ofOutbox('NOT_SAVED_FIRST', 'An entry is sent before it is on the disk', { CRASHES: 1 }),
  ofOutbox('NO_FENCING_ON_THE_DISK', 'A tab writes what it no longer owns', { TAKEOVERS: 1 }),
  ofOutbox('DONE_WHEN_SENT', 'An entry that is sent counts as done'),
  ofOutbox('KEY_SENT_WHEN_OLD', 'A key is sent that the API may have forgotten', { AGES: 1 }),
  ofOutbox('NO_ORDER_IN_A_SCOPE', 'The entries of a scope are sent side by side'),
  ofOutbox('ENTRIES_KEPT_AT_LOGOUT', 'The entries stay at a log-out, and another tab still sends', {
    LOGOUT: 1,
  }),
  ofOutbox('WRITES_WHAT_IS_ABSENT', 'A tab writes again what is no longer on the disk', {
    LOGOUT: 1,
  }),
  ofOutbox('NOTE_LONG_BEFORE_SENDING', 'A page may sleep between the note and the request', {
    LOGOUT: 1,
  }),
  {
    ...ofOutbox('LOCK_FOR_EVER', 'A lock outlives the tab that has it', { CRASHES: 1 }),
    isLive: true,
  },
  ofOutbox('NO_FENCING_AT_SERVER', 'The server keeps no token of a lease', { EARLY_ENDS: 1 }),
  ofOutbox('EFFECT_OUTSIDE_TRANSACTION', 'The server keeps effect and answer apart', {
    HANDLER_CRASHES: 1,
  }),
  ofOutbox('FORGETS_EARLY', 'The server forgets keys earlier than declared'),
];
