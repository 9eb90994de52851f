/** What openapi-typescript makes of an API's description. */
export interface paths {
  '/products': {
    get: { responses: { 200: { content: { 'application/json': string[] } } } };
    post: {
      requestBody: { content: { 'application/json': { name: string } } };
      responses: { 200: { content: { 'application/json': string[] } } };
    };
  };
}
