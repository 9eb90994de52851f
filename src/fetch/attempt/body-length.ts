import type { BodyCheck } from './body.ts';

/** Another origin hides that a body was compressed: that may have made a short one longer. */
const mostOverhead = (got: number): number => 64 + got / 100;

/**
 * Counts a body that says how long it is. Engines differ: in some a body that was cut off resolves. `next` is
 * what else counts it.
 */
export function checkLength(
  { headers, status, type }: Response,
  method: string,
  next: BodyCheck | undefined,
): BodyCheck | undefined {
  const length = headers.get('content-length');
  const isOther =
    !length ||
    !/^\d+$/.test(length) ||
    headers.get('content-encoding') ||
    headers.get('transfer-encoding');
  if (isOther || method === 'HEAD' || status === 304) return next;
  let got = 0;
  return {
    take(part) {
      got += part.byteLength;
      next?.take(part);
    },
    end() {
      if (got + (type === 'cors' ? mostOverhead(got) : 0) < Number(length))
        throw new TypeError(`the body ended after ${got} of ${length} bytes`);
      next?.end();
    },
  };
}
