'use server';
import { idempotentAction, refuse } from 'steadfetch/server';
import { store } from '../db.ts';

export const placeOrder = idempotentAction(
  (fields, { tx }) => {
    const article = fields.get('article');
    if (typeof article !== 'string' || !article) return refuse({ article: 'Choose an article.' });
    const { lastInsertRowid } = tx.prepare('INSERT INTO orders (article) VALUES (?)').run(article);
    return { id: Number(lastInsertRowid) };
  },
  // An app with users passes `scope`, too: a function that returns the id of the user.
  { store, name: 'place-order', keepFields: ['article'] },
);
