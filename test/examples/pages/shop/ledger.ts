const shared = globalThis as { orders?: string[] };

/** What was ordered. Each page of a framework may have modules of its own. */
export const orders: string[] = (shared.orders ??= []);

/** How long an order takes, in milliseconds. */
export const takesMs = 30;
export const work = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, takesMs));
