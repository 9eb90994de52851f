import { MethodIdempotency, MethodKind, proto3 } from '@bufbuild/protobuf';

const ListRequest = proto3.makeMessageType('shop.v1.ListRequest', []);
const ListResponse = proto3.makeMessageType('shop.v1.ListResponse', [
  { no: 1, name: 'names', kind: 'scalar', T: 9, repeated: true },
]);

/** What protoc-gen-connect-es 1 makes of the service in recipes/products_pb.ts. */
export const Products = {
  typeName: 'shop.v1.Products',
  methods: {
    list: {
      name: 'List',
      I: ListRequest,
      O: ListResponse,
      kind: MethodKind.Unary,
      idempotency: MethodIdempotency.NoSideEffects,
    },
    add: { name: 'Add', I: ListRequest, O: ListResponse, kind: MethodKind.Unary },
  },
};
