import { type Contender, createKey, postOrder, tell } from '../contender.ts';

/** One attempt. */
export const plainFetch: Contender = (line) => (order) => tell(postOrder(line, order, createKey()));
