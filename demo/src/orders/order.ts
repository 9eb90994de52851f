/** What a form of the checkout sends. */
export interface Order {
  readonly kite: string;
  readonly quantity: number;
  readonly name: string;
}

/** What the API answers. */
export interface Receipt {
  readonly number: number;
}

/** The two forms of the checkout. Each has a shop of its own. */
export type FormName = 'naive' | 'steadfetch';

/** Where a form sends its order: each round has servers of its own. */
export const ordersUrl = (form: FormName, round: number): string =>
  `https://round-${round}.kites.example/api/${form}/orders`;

export const isSameOrder = (one: Order, other: Order): boolean =>
  one.kite === other.kite && one.quantity === other.quantity && one.name === other.name;
