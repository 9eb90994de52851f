// What an app pays that uses all of it in the page.
export * from 'steadfetch';
export * from 'steadfetch/outbox';
export * from 'steadfetch/react';
