import type { Contender, Line, Order, Told } from './contender.ts';

const articles = ['a lamp', 'a chair', 'an Ærø rug', 'a table'];

/**
 * Submits orders from several tabs at once, each its orders one after the other, and remembers what
 * each person was told.
 */
export async function submitAll(
  contender: Contender,
  line: Line,
  { orders, tabs }: { readonly orders: number; readonly tabs: number },
): Promise<Map<number, Told>> {
  const told = new Map<number, Told>();
  let next = 0;
  const work = async (): Promise<void> => {
    const submit = contender(line);
    while (next < orders) {
      next += 1;
      const order: Order = { no: next, article: articles[next % articles.length] ?? '' };
      told.set(order.no, await submit(order));
    }
  };
  await Promise.all(Array.from({ length: tabs }, work));
  return told;
}
