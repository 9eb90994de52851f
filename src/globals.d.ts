// The app's bundler replaces it, as it does for React and React Query. No other part of `process` is used.
declare const process: { readonly env: { readonly NODE_ENV?: string } };
