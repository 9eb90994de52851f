import { builtinEnvironments, type Environment } from 'vitest/runtime';

const { jsdom } = builtinEnvironments;

/**
 * jsdom, with what browsers have and jsdom lacks. Each file has a context of its own in a process that it shares with
 * others, so that jsdom, React and the compiled code are loaded once in each process.
 */
const page: Environment = {
  ...jsdom,
  name: 'page',
  async setupVM(options) {
    const environment = await jsdom.setupVM?.(options);
    if (!environment) throw new Error('jsdom has no context of its own in this version of Vitest');
    const window = environment.getVmContext();
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      // jsdom's has no `subtle`.
      if (name in window && name !== 'crypto') continue;
      const value: unknown = Reflect.get(globalThis, name);
      Object.defineProperty(window, name, { value, configurable: true, writable: true });
    }
    return environment;
  },
};

export default page;
