/** The media type of an answer, in lower case; empty where it has none. */
export const mediaType = ({ headers }: Response): string =>
  (headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();

/** RFC 8259 §11, and the suffix of RFC 6839 §3.1. Of a field that was sent twice, the last one counts. */
export const isJson = (type: string): boolean => /^(.*,)?[^/,]+\/([^/,]+\+)?json$/.test(type);

/** Whether what has become of a call is said by a frame at the end of its body: gRPC-web, and the streams of Connect. */
export const isFramed = (response: Response): boolean =>
  /^application\/(grpc-web|connect\+)/.test(mediaType(response));

const streams =
  /^(text\/event-stream|application\/((x-)?(ndjson|jsonl|jsonlines|json-lines)|stream\+json|json-seq)|multipart\/.*)$/;

/** Whether the parts of a body come when there is something to say: it may be quiet for as long as it likes. */
export const isStream = (response: Response): boolean =>
  streams.test(mediaType(response)) || isFramed(response);
