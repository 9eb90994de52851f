// Replaced by the app's bundler, as React's and React Query's own: the only piece of `process` in use.
declare const process: { readonly env: { readonly NODE_ENV?: string } };
