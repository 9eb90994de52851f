import type { Message } from '@bufbuild/protobuf';
import {
  fileDesc,
  type GenFile,
  type GenMessage,
  type GenService,
  messageDesc,
  serviceDesc,
} from '@bufbuild/protobuf/codegenv2';

// What protoc-gen-es makes of this service, but shorter:
// service Products {
//   rpc List(ListRequest) returns (ListResponse) { option idempotency_level = NO_SIDE_EFFECTS; }
//   rpc Add(ListRequest) returns (ListResponse);
// }
const file: GenFile = fileDesc(
  'Cg5wcm9kdWN0cy5wcm90bxIHc2hvcC52MSINCgtMaXN0UmVxdWVzdCIkCgxMaXN0UmVzcG9uc2USFAoFbmFtZXMYASADKAlSBW5hbWVzMngKCFByb2R1Y3RzEjgKBExpc3QSFC5zaG9wLnYxLkxpc3RSZXF1ZXN0GhUuc2hvcC52MS5MaXN0UmVzcG9uc2UiA5ACARIyCgNBZGQSFC5zaG9wLnYxLkxpc3RSZXF1ZXN0GhUuc2hvcC52MS5MaXN0UmVzcG9uc2ViBnByb3RvMw',
);

type ListRequest = Message<'shop.v1.ListRequest'>;
type ListResponse = Message<'shop.v1.ListResponse'> & { names: string[] };

const ListRequestSchema: GenMessage<ListRequest> = messageDesc(file, 0);
const ListResponseSchema: GenMessage<ListResponse> = messageDesc(file, 1);

export const Products: GenService<{
  list: {
    methodKind: 'unary';
    input: typeof ListRequestSchema;
    output: typeof ListResponseSchema;
  };
  add: {
    methodKind: 'unary';
    input: typeof ListRequestSchema;
    output: typeof ListResponseSchema;
  };
}> = serviceDesc(file, 0);
