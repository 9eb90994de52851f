import { type Call, endCall, untilStopped } from './call.ts';

/** An error's body up to this size is kept, so that it can be read at any time. */
const mostBytes = 65_536;

/**
 * Reads the body of a failure while it comes, from a copy: what is small is in when somebody asks,
 * however much later that is, and its connection is free. The rest of a larger one comes as it is
 * read, within the time limit.
 */
export async function readAhead(call: Call, response: Response): Promise<void> {
  if (response.bodyUsed || response.body?.locked) return;
  const reader = response.clone().body?.getReader();
  let left = mostBytes;
  try {
    while (reader) {
      const { done, value } = await untilStopped(call, reader.read());
      if (done) return endCall(call);
      left -= value.byteLength;
      // Of a copy: what is left of the body stays for whoever reads the answer itself.
      if (left < 0) return void reader.cancel().catch(() => {});
    }
  } catch {
    // Whoever reads the answer itself is told.
  }
}
