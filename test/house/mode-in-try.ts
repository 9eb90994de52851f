import { parseAst } from 'vite';

interface Found {
  readonly type?: string;
  readonly name?: string;
}

/** Whether code tests NODE_ENV in the block of a `try`, outside of the functions that are made there. */
export function testsModeInTry(code: string): boolean {
  const isIn = (part: unknown, isInTry: boolean): boolean => {
    if (Array.isArray(part)) return part.some((one) => isIn(one, isInTry));
    const { type = '', name } = Object(part) as Found;
    if (type === 'Identifier') return isInTry && name === 'NODE_ENV';
    const isWithin = isInTry && !type.includes('Function');
    return Object.entries(Object(part) as object).some(
      ([field, value]) =>
        typeof value === 'object' &&
        isIn(value, isWithin || (type === 'TryStatement' && field === 'block')),
    );
  };
  return isIn(parseAst(code).body, false);
}
