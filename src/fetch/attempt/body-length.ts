/** Another origin hides that a body was compressed: that may have made a short one longer. */
const mostOverhead = (got: number): number => 64 + got / 100;

/**
 * Checks that a body is as long as its answer has said. Engines differ: in some a body that was cut off
 * resolves.
 *
 * @throws TypeError for a shorter one.
 */
export function checkLength(
  { headers, status, type }: Response,
  method: string,
  got: number,
): void {
  const length = headers.get('content-length') ?? '';
  const isShort = /^\d+$/.test(length) && got + (type === 'cors' ? mostOverhead(got) : 0) < +length;
  const isComparable = !headers.get('content-encoding') && !headers.get('transfer-encoding');
  if (isShort && isComparable && method !== 'HEAD' && status !== 304)
    throw new TypeError(`the body ended after ${got} of ${length} bytes`);
}
