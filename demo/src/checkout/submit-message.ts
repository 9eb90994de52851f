import { isHttpError, isNetworkError, isNotSentError, isTimeoutError, outcomeOf } from 'steadfetch';
import type { RetryStatus, UnknownSubmission } from 'steadfetch/react';
import type { Order, Receipt } from '../orders/order.ts';
import type { Message } from '../status/message.ts';
import { describeOrder } from './describe-order.ts';

interface Submission {
  readonly status: RetryStatus;
  readonly data: Receipt | undefined;
  readonly unknown: UnknownSubmission<Order> | undefined;
  /** Something else was pressed while it is under way. */
  readonly isBusy: boolean;
}

const oncePromise = 'Press Order again: you will not get two.';

/** What the form tells about its order. */
export function messageFor({ status, data, unknown, isBusy }: Submission): Message {
  const message = describe(status, data, unknown);
  return isBusy
    ? { ...message, detail: 'Your changes were not sent: one order at a time.' }
    : message;
}

function describe(
  status: RetryStatus,
  data: Receipt | undefined,
  unknown: UnknownSubmission<Order> | undefined,
): Message {
  const { attempt, maxAttempts, lastError } = status;
  switch (status.status) {
    case 'idle':
      return unknown ? describeUnknown(unknown, true) : { title: '', detail: 'Nothing sent yet.' };
    case 'sending':
      return attempt <= 1
        ? { title: 'Sending your order', detail: 'The request is on its way.' }
        : {
            title: 'Sending it again',
            detail: `Attempt ${attempt} of ${maxAttempts}, with the same key.`,
          };
    case 'waiting':
      return { title: describeFailure(lastError), detail: describeWait(lastError) };
    case 'paused':
      return status.reason === 'server-down'
        ? { title: 'The shop is down', detail: 'Your order is sent when the shop is back.' }
        : { title: 'Waiting for its turn', detail: 'Your order is sent when its turn comes.' };
    case 'succeeded':
      return { title: 'Ordered', detail: data ? `Order number ${data.number}.` : '' };
    case 'failed':
      return {
        title: 'Not ordered',
        detail: `${describeFailure(lastError)}. Nothing was booked: you can press Order again.`,
      };
    case 'unknown':
      return unknown
        ? describeUnknown(unknown, false)
        : { title: 'It may have been ordered', detail: oncePromise };
  }
}

function describeUnknown(
  { variables, isExpired }: UnknownSubmission<Order>,
  isFromBefore: boolean,
): Message {
  const title = isFromBefore ? 'An earlier order may have been booked' : 'It may have been ordered';
  if (isExpired) return { title, detail: 'It is too old to be sent again. Please ask the shop.' };
  const what = isFromBefore && variables ? `${describeOrder(variables)}. ` : '';
  return { title, detail: `${what}${oncePromise}` };
}

function describeWait(error: unknown): string {
  return outcomeOf(error).processed === 'no'
    ? 'Nothing is booked yet. It is sent again by itself.'
    : 'It may be booked. It is sent again with the same key: you will not get two.';
}

/** What went wrong, in the words of the user in front of the screen. */
function describeFailure(error: unknown): string {
  if (isHttpError(error)) {
    if (error.status === 410) return 'It is sold out (410)';
    return error.status === 503
      ? 'The shop is overloaded (503)'
      : `The shop refused (${error.status})`;
  }
  if (isTimeoutError(error)) return 'No answer in time';
  if (isNotSentError(error)) return 'It was not sent';
  if (isNetworkError(error)) return 'The connection broke';
  return 'Something went wrong';
}
