import type { AnswerName, CommandName } from './answers.ts';
import type { LoggedRequest } from './server.ts';

/** What the server says of one talk. */
interface Log {
  readonly requests: readonly LoggedRequest[];
  readonly preflights: number;
}

/** A test's own line to the hostile server, past everything that is tested. */
export interface Talk {
  /** Where to send requests: the nth meets the nth answer, later ones the last. */
  readonly url: string;
  /** What has arrived so far. */
  readonly log: () => Promise<Log>;
  /** Resolves when this many requests have arrived. */
  readonly arrived: (requests: number) => Promise<Log>;
  /** Resolves when the connections of this many requests are closed. */
  readonly closed: (requests: number) => Promise<Log>;
  /** Goes on with the body of the last request. */
  readonly tell: (command: CommandName, text?: string) => Promise<void>;
}

export function openTalk(origin: string, ...answers: readonly [AnswerName, ...AnswerName[]]): Talk {
  const id = crypto.randomUUID();
  const log = async (query = ''): Promise<Log> => {
    const response = await fetch(`${origin}/log/${id}?${query}`);
    return (await response.json()) as Log;
  };
  return {
    url: `${origin}/talk/${id}?answers=${answers.join()}`,
    log: () => log(),
    arrived: (requests) => log(`requests=${requests}`),
    closed: (requests) => log(`closed=${requests}`),
    tell: async (command, text = '') => {
      await fetch(`${origin}/tell/${id}?command=${command}&text=${encodeURIComponent(text)}`);
    },
  };
}
