/** What a mock API answers. */
export interface Route {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly answer: (info: { readonly request: Request }) => Promise<Response>;
}
