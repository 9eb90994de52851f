const bareItem =
  '(?:"(?:[ !#-[\\]-~]|\\\\["\\\\])*"|[A-Za-z*][\\w!#$%&\'*+.^`|~:/-]*|-?\\d{1,12}\\.\\d{1,3}|@?-?\\d{1,15}|\\?[01]|:[\\w+/=]*:|%"[ !#-~]*")';
const key = '[a-z*][a-z\\d_.*-]*';
const innerList = `\\((?: *${bareItem}(?:; *${key}(?:=${bareItem})?)*(?=[ )]))* *\\)`;

/** All headers of an answer together are rarely allowed more. Bounds the time that a field can take. */
const maxLength = 16_384;

/**
 * One piece of a list: a comma with the member after it, or one parameter. No piece can be matched
 * in two ways, and the pieces follow one another (`y`), so the time is linear in the length.
 */
const piece: RegExp = new RegExp(
  `[ \\t]*,[ \\t]*(?:(${bareItem})|${innerList})|; *(${key})(?:=(?:(\\d{1,15})(?![\\d.])|${bareItem}))?`,
  'gy',
);

/**
 * A member of a list: its value as it is written (a String with its quotes), and its parameters. A
 * parameter whose value is no Integer from 0 up is NaN.
 */
export type ListItem = readonly [value: string, parameters: Readonly<Record<string, number>>];

/**
 * Reads the Items of a List (RFC 9651 §3.1), with those of their parameters that are Integers from
 * 0 up: 50 in `"hour";r=50`.
 *
 * Everything else that the grammar allows is passed over without harm to its neighbours: Inner
 * Lists, and other types as values of parameters. A parameter given twice has its last value.
 * Whatever breaks the grammar fails the whole field (§4.2), with one exception: what a Byte Sequence
 * or a Display String encodes is not decoded, so an error in there goes unseen.
 *
 * @returns The items in their order; none if the field is absent, empty, malformed or longer
 * than 16,384 characters.
 *
 * @example
 * ```ts
 * readListItems('"day";r=5;t=60, hour;pk=:YQ==:'); // [['"day"', { r: 5, t: 60 }], ['hour', { pk: NaN }]]
 * readListItems('"day";r=5, oops='); // []
 * ```
 */
export function readListItems(field: string | null | undefined): readonly ListItem[] {
  if (!field || field.length > maxLength) return [];
  const items: ListItem[] = [];
  let parameters: Record<string, number> = {};
  // With a comma before the first member too, every member begins alike.
  const rest = `,${field}`.replace(
    piece,
    (_, value?: string, parameter?: string, integer?: string) => {
      if (parameter) parameters[parameter] = Number(integer);
      else {
        parameters = {};
        // An Inner List is no Item. Its parameters are read, and dropped with it.
        if (value) items.push([value, parameters]);
      }
      return '';
    },
  );
  return /[^ \t]/.test(rest) ? [] : items;
}

const stringItem = new RegExp(
  `^ *"((?:[ !#-[\\]-~]|\\\\["\\\\])*)"(?:; *${key}(?:=${bareItem})?)* *$`,
);

/**
 * Reads a field that is one Item, a String (RFC 9651 §3.3.3), such as `Idempotency-Key`. Parameters
 * are allowed, and mean nothing.
 *
 * @returns The text within the quotes; undefined for everything else.
 *
 * @example
 * ```ts
 * readStringItem('"8e03978e"'); // '8e03978e'
 * readStringItem('8e03978e'); // undefined: a Token, or none of them
 * ```
 */
export function readStringItem(field: string | null | undefined): string | undefined {
  if (!field || field.length > maxLength) return undefined;
  return stringItem.exec(field)?.[1]?.replace(/\\(.)/g, '$1');
}
