import { dialects } from '../dialects.ts';
import { triggers } from '../settings.ts';

/** The text of `--help`. */
export const usage = `Usage: steadfetch check-idempotency URL [options]

Does your API honour Idempotency-Key as it declares? Sends some 200 requests to URL, and to no other
address that is not named here. Each may create something: take a test system.

The request
  -d, --body TEXT|@FILE      a body that the API accepts; {{unique}} is another value for each operation
      --other-body TEXT      the same with another meaning, if none is found by trying
      --method POST
  -H, --header "Name: value" as often as needed: credentials, Content-Type (application/json)
      --second-user "Name: value"   credentials of another user
      --renewed "Name: value"       newer credentials of the same user
      --other-url URL, --other-method METHOD   where the same key must not get the same answer
      --origin URL, --credentials   a browser app that uses the API, and whether it sends cookies

What the API declares
      --profile NAME         ${Object.keys(dialects).join(', ')} (draft)
      --key-header NAME, --format structured|raw, --max-length 255, --lifetime 24h
      --key required|optional
      --mismatch 422         statuses for other bytes with a known key; 4xx; replayed
      --in-progress 409      statuses while the first request runs
      --refusals, --failures stored|forgotten|either   a 4xx, a 5xx of the handler
      --replay-header NAME   the header that marks a replayed answer

How it finds out
      --count-url URL        answers how many effects there are: a number, a list, or {"count": 3}
      --module FILE          exports countEffects(), advanceClock(ms), restart()
      --trigger NAME="Name: value"  a header, or a JSON body, that makes a test build of the handler
                             ${triggers.join(', ')}
      --ignore PATH          a field of the answer that differs each time, such as a time
      --wait                 waits until the lifetime of a key has passed
      --timeout 10s, --lease 30s, --max-wait 60s

      --json                 a report for machines
      --strict               a violated "should" counts, too
      --list, --only ID      lists the requirements; tries some of them
  -y, --yes                  does not ask before it writes

Exit code: 0 nothing violated, 1 something violated, 2 could not be run.`;
