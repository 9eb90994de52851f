/** What gives the requests of one operation their idempotency keys: what the user meant, once. */
export interface Intent {
  readonly key: string;
  /** In epoch milliseconds: a key that is older than its API keeps it is never sent again by itself. */
  readonly createdAt: number;
  /** The request that carries the key itself, once it has gone: the others carry derived ones. */
  primary?: string | undefined;
  /** It may have been sent before this operation: the form was, or the page is a new one. @default whether `primary` is known */
  wasSent?: boolean | undefined;
  /** A request of it went without a key, because its API honours none: once more may be twice. */
  isUnkeyed?: boolean | undefined;
  /** A request of it was refused: it is not what it was. */
  isChanged?: boolean | undefined;
  /** Its steps from before this operation, where somebody keeps them. */
  readonly past?: readonly PastStep[] | undefined;
  /** What a body is known by once its bytes are gone. */
  readonly digest?: ((body: FixedBody) => Promise<string>) | undefined;
  /** Keeps a step that is sent now, or done. */
  readonly keep?: ((step: Step) => void) | undefined;
  /** Resolves once what was said of it is kept: no request of it goes before. Rejects where none may. */
  readonly kept?: (() => Promise<void>) | undefined;
}

/** A body that no longer changes. */
export type FixedBody = string | URLSearchParams | Blob | ArrayBuffer | null;

/** One keyed request of an operation, in all its attempts. */
export interface Step {
  /** What tells it from the other steps: what it is called, or method, URL and occurrence. */
  readonly id: string;
  /** Method and absolute URL. */
  readonly target: string;
  /** It has a name or a key of its own, and is known by that. */
  readonly isNamed: boolean;
  readonly key: string;
  /** One key never has two payloads: what was passed first is what is sent. */
  body: FixedBody;
  /** What its body is known by. */
  readonly digest?: string | undefined;
  /** It is from before this operation: of its body the digest alone is known, until it is passed again. */
  isPast?: boolean;
  /** The latest attempt that it was part of. */
  attempt: number;
  /** When it was first sent, in epoch milliseconds. */
  sentAt?: number;
  /** It was answered, and well. */
  isDone?: boolean;
}

/** What is kept of a step when its operation is over. */
export type PastStep = Omit<Step, 'body' | 'attempt' | 'isPast'>;

/** The keyed requests of an operation, each of which waits its turn to be told which step it is. */
export interface Steps {
  readonly known: Step[];
  turn: Promise<unknown>;
  /** The intent may have been sent by an earlier operation. */
  readonly wasSent: boolean;
}
