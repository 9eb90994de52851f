import type { FormOptions } from './safe-submit.ts';

/** A component that shows a form. Several may show the same one. */
export class Copy {
  #options: FormOptions | undefined;
  #isNew = true;

  /** Its options, once its effects have run. */
  get options(): FormOptions | undefined {
    return this.#options;
  }

  setOptions(options: FormOptions): void {
    this.#options = options;
  }

  /** Called when it is mounted or pressed. @returns whether that is its first time. */
  enter(): boolean {
    const isFirst = this.#isNew;
    this.#isNew = false;
    return isFirst;
  }

  /** Whether it sends with another function than this one does. */
  differsFrom(other: Copy): boolean {
    return this.#options?.mutation.mutationFn !== other.#options?.mutation.mutationFn;
  }
}
