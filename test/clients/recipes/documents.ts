import { gql, type TypedDocumentNode } from '@apollo/client';

/** What GraphQL Code Generator makes of a query. */
export const Products: TypedDocumentNode<{ products: string[] }> = gql`
  {
    products
  }
`;

export const AddProduct: TypedDocumentNode<{ add: string[] }> = gql`
  mutation {
    add
  }
`;
