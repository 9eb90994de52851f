/** As the DOM has it: a function, or an object with a method. */
type Listener = (() => void) | { readonly handleEvent: () => void };

/** What aborts, as far as the code under test asks. */
class LightSignal {
  aborted = false;
  #reason: unknown;
  #listeners: Listener[] = [];

  static any(signals: readonly AbortSignal[]): LightSignal {
    const signal = new LightSignal();
    for (const source of signals) {
      if (source.aborted) signal.abort(source.reason);
      else source.addEventListener('abort', () => signal.abort(source.reason));
    }
    return signal;
  }

  static abort(reason?: unknown): LightSignal {
    const signal = new LightSignal();
    signal.abort(reason);
    return signal;
  }

  /** Made when somebody reads it: of most requests nobody waits for the body, and so for its end. */
  get reason(): unknown {
    if (this.aborted) this.#reason ??= new DOMException('This operation was aborted', 'AbortError');
    return this.#reason;
  }

  addEventListener(_: 'abort', listener: Listener): void {
    if (!this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: Listener): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  abort(reason?: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      if (typeof listener === 'function') listener();
      else listener.handleEvent();
    }
  }
}

class LightController {
  readonly signal = new LightSignal();

  abort(reason?: unknown): void {
    this.signal.abort(reason);
  }
}

/**
 * AbortController and AbortSignal without Node's EventTarget, which costs more than all that a tab
 * does with them: no event is made, since nobody reads it. Not for code that makes Requests.
 */
export const lightAbort = { AbortController: LightController, AbortSignal: LightSignal };
