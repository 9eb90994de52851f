import type { Row } from './store/schema.ts';
import { pageSize } from './store/row-store.ts';

/** Rows in the order of their places, of which `load` reads a page at a time. */
export async function* pagesOf(
  load: (after: number, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let after = 0; ;) {
    const page = await load(after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last.seq;
  }
}
