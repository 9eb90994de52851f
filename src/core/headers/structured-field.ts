const bareItem =
  '(?:"(?:[ !#-[\\]-~]|\\\\["\\\\])*"|[A-Za-z*][\\w!#$%&\'*+.^`|~:/-]*|-?\\d{1,12}\\.\\d{1,3}|@?-?\\d{1,15}|\\?[01]|:[\\w+/=]*:|%"[ !#-~]*")';
const key = '[a-z*][a-z\\d_.*-]*';
const innerList = `\\((?: *${bareItem}(?:; *${key}(?:=${bareItem})?)*(?=[ )]))* *\\)`;

/** Few servers send more than this in all headers together. The limit bounds the parsing time. */
const maxLength = 16_384;

/**
 * One piece of a list: a comma and the member after it, or one parameter. A piece can be matched in one
 * way only, and the pieces are adjacent (`y`), so the time is linear in the length.
 */
const piece: RegExp = new RegExp(
  `[ \\t]*,[ \\t]*(?:(${bareItem})|${innerList})|; *(${key})(?:=(?:(\\d{1,15})(?![\\d.])|${bareItem}))?`,
  'gy',
);

/**
 * A member of a list: its value as written (a String with its quotes), and its parameters. A parameter
 * is NaN unless its value is an Integer from 0 up.
 */
export type ListItem = readonly [value: string, parameters: Readonly<Record<string, number>>];

/**
 * Reads the Items of a List (RFC 9651 §3.1), and those of their parameters that are Integers from 0 up:
 * 50 in `"hour";r=50`.
 *
 * Inner Lists, and parameters of other types, are skipped. Of a repeated parameter, the last value
 * counts. A field that breaks the grammar fails as a whole (§4.2), with one exception: Byte Sequences and
 * Display Strings are not decoded, so errors in their content go unnoticed.
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
  // The added comma makes the first member begin like the others.
  const rest = `,${field}`.replace(
    piece,
    (_, value?: string, parameter?: string, integer?: string) => {
      if (parameter) parameters[parameter] = Number(integer);
      else {
        parameters = {};
        // An Inner List is no Item: its parameters are dropped with it.
        if (value) items.push([value, parameters]);
      }
      return '';
    },
  );
  return /[^ \t]/.test(rest) ? [] : items;
}

const stringItem = /* @__PURE__ */ new RegExp(
  `^ *"((?:[ !#-[\\]-~]|\\\\["\\\\])*)"(?:; *${key}(?:=${bareItem})?)* *$`,
);

/**
 * Reads a field that is one String (RFC 9651 §3.3.3), such as `Idempotency-Key`. Parameters are
 * allowed, and ignored.
 *
 * @returns The text within the quotes; undefined if the field is anything else.
 *
 * @example
 * ```ts
 * readStringItem('"8e03978e"'); // '8e03978e'
 * readStringItem('8e03978e'); // undefined: not a String
 * ```
 */
export function readStringItem(field: string | null | undefined): string | undefined {
  if (!field || field.length > maxLength) return undefined;
  return stringItem.exec(field)?.[1]?.replace(/\\(.)/g, '$1');
}
