/** A kite, as the API answers it. */
export interface Kite {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly spanCm: number;
  readonly priceEur: number;
  /** The wind it flies in, in Beaufort, from the lightest to the strongest. */
  readonly wind: readonly [from: number, to: number];
  readonly shape: KiteShapeName;
  /** The colours of its panels, and that of the sky behind it. */
  readonly colours: readonly [string, string, string, string];
  readonly sky: string;
}

export type KiteShapeName =
  | 'diamond'
  | 'rokkaku'
  | 'delta'
  | 'box'
  | 'sled'
  | 'octagon'
  | 'parafoil'
  | 'train';

const red = '#e4442b';
const yellow = '#f5b324';
const blue = '#2b4fc7';
const teal = '#12857a';
const blush = '#f4a9a0';
const ink = '#14283a';
const cream = '#fff5e0';
const azure = '#79b8e6';

/** What the healthy API answers. */
export const kites: readonly Kite[] = [
  {
    id: 'kestrel',
    name: 'Kestrel',
    kind: 'Diamond',
    spanCm: 96,
    priceEur: 48,
    wind: [2, 5],
    shape: 'diamond',
    colours: [red, yellow, blue, teal],
    sky: '#bfe0f2',
  },
  {
    id: 'heron',
    name: 'Heron',
    kind: 'Rokkaku',
    spanCm: 180,
    priceEur: 165,
    wind: [2, 6],
    shape: 'rokkaku',
    colours: [ink, cream, red, cream],
    sky: '#f7d9a8',
  },
  {
    id: 'swift',
    name: 'Swift',
    kind: 'Delta',
    spanCm: 210,
    priceEur: 89,
    wind: [1, 4],
    shape: 'delta',
    colours: [blue, azure, yellow, red],
    sky: '#d7e9dd',
  },
  {
    id: 'gannet',
    name: 'Gannet',
    kind: 'Box kite',
    spanCm: 110,
    priceEur: 124,
    wind: [4, 8],
    shape: 'box',
    colours: [yellow, red, blue, ink],
    sky: '#cdd8ee',
  },
  {
    id: 'puffin',
    name: 'Puffin',
    kind: 'Sled',
    spanCm: 120,
    priceEur: 36,
    wind: [2, 5],
    shape: 'sled',
    colours: [ink, cream, red, yellow],
    sky: '#f6cfc6',
  },
  {
    id: 'plover',
    name: 'Plover',
    kind: 'Octagon',
    spanCm: 140,
    priceEur: 98,
    wind: [2, 6],
    shape: 'octagon',
    colours: [teal, cream, yellow, red],
    sky: '#c6e6e1',
  },
  {
    id: 'petrel',
    name: 'Petrel',
    kind: 'Parafoil',
    spanCm: 160,
    priceEur: 142,
    wind: [3, 7],
    shape: 'parafoil',
    colours: [blush, red, blush, ink],
    sky: '#dfe6f6',
  },
  {
    id: 'dunlin',
    name: 'Dunlin',
    kind: 'Train of three',
    spanCm: 60,
    priceEur: 72,
    wind: [3, 6],
    shape: 'train',
    colours: [blue, teal, azure, yellow],
    sky: '#f8e6ab',
  },
];
