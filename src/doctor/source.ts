import type { Retry } from './loops.ts';
import { Node, type ParsedNode } from './node.ts';
import {
  type AxiosRetry,
  axiosRetriesIn,
  type QueryOptions,
  queryOptionsIn,
  retriesIn,
} from './retries.ts';

/** One file, as the rules read it. */
export interface Source {
  readonly nodes: readonly Node[];
  readonly retries: readonly Retry[];
  readonly queries: readonly QueryOptions[];
  readonly axiosRetries: readonly AxiosRetry[];
}

/** A way in which people retry wrongly. */
export interface Rule {
  readonly name: string;
  /** One sentence. */
  readonly why: string;
  /** One sentence. */
  readonly remedy: string;
  /** Where in a file it is. */
  readonly find: (source: Source) => Iterable<Node | undefined>;
}

/** Reads a file of an app that may turn off the retries of its queries in another file. */
export function sourceOf(program: ParsedNode, isOffByDefault = false): Source {
  const nodes = [...new Node(program).within()];
  return {
    nodes,
    retries: retriesIn(nodes, isOffByDefault),
    queries: queryOptionsIn(nodes),
    axiosRetries: axiosRetriesIn(nodes),
  };
}
