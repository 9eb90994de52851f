/** What the stub answers: a page of a catalogue, just over 1 KiB of JSON. */
const json = JSON.stringify({
  page: 3,
  pages: 12,
  products: Array.from({ length: 8 }, (_, index) => ({
    id: `prod_${4711 + index}`,
    name: `Pour-over kettle, ${index + 1}.0 l`,
    description: 'Gooseneck, brushed steel',
    price: { amount: 4990 + index * 100, currency: 'EUR' },
    inStock: index % 3 !== 0,
  })),
});

const init = { headers: { 'content-type': 'application/json' } };

export const url = 'https://api.example/v1/products?category=kettles&page=3';

/** A fetch that has its answer at once: whatever a call costs besides is the wrapper's. */
export async function stub() {
  return new Response(json, init);
}
