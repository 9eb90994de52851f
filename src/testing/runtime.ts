/** Node's way to what it has built in, and its versions. */
interface NodeProcess {
  readonly versions?: { readonly node?: string };
  readonly cwd?: () => string;
  /** From Node 20.16. */
  readonly getBuiltinModule?: (name: 'module') => {
    readonly createRequire: (path: string) => (name: string) => unknown;
  };
}

/**
 * MSW 3 opens its sockets with `Promise.withResolvers`, which Node has from version 22. Without it, no
 * request reaches a handler, and each ends as `TypeError: fetch failed`, which tells nobody why.
 *
 * @throws Error that says what to install, when this Node cannot run the MSW that is installed.
 */
export function requireMswRuns(operation: string): void {
  if ('withResolvers' in Promise) return;
  const { process } = globalThis as { process?: NodeProcess };
  const node = process?.versions?.node;
  const major = mswMajor(process);
  if (node === undefined || major === undefined || major < 3) return;
  throw new Error(
    `${operation}: MSW ${major} needs Node 22.12 or later, and this is Node ${node}, where it answers no request. Run the tests on Node 22.12 or later, or install msw@2.`,
  );
}

/** The major version of the MSW that the app has installed; undefined where that cannot be seen. */
function mswMajor(process: NodeProcess | undefined): number | undefined {
  try {
    const require = process?.getBuiltinModule?.('module').createRequire(`${process.cwd?.()}/`);
    const { version } = Object(require?.('msw/package.json')) as { readonly version?: string };
    return version === undefined ? undefined : Number.parseInt(version, 10);
  } catch {
    return undefined;
  }
}
