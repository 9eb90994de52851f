import { toUrl } from './request-parts.ts';

/**
 * Whether the page's Content-Security-Policy has forbidden this request. Asked when fetch has just
 * rejected: the error is that of a failed network, and the browser says more one task later. A
 * message waits for that task, not a timer: those are slow in a hidden tab, and faked in tests.
 *
 * The URL must be the same, for another request may be blocked at the same time. After a redirect
 * the browser tells the first one: where it must not go on, it would not get any further next time.
 */
export async function isBlockedByCsp(url: string): Promise<boolean> {
  const target = toUrl(url);
  if (!target || typeof SecurityPolicyViolationEvent === 'undefined') return false;
  const told: string[] = [];
  // A policy that only reports blocks nothing.
  const listener = ({ blockedURI, disposition }: SecurityPolicyViolationEvent): void =>
    void (disposition === 'enforce' && told.push(blockedURI));
  addEventListener('securitypolicyviolation', listener);
  const { port1, port2 } = new MessageChannel();
  await new Promise((resolve) => {
    port1.addEventListener('message', resolve);
    port1.start();
    port2.postMessage(0);
  });
  port1.close();
  removeEventListener('securitypolicyviolation', listener);
  // What is told has no fragment, and of a URL without a host it is only the scheme.
  target.hash = '';
  return told.some((uri) => uri === target.href || `${uri}:` === target.protocol);
}
