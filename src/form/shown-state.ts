/** What React Query shows of a mutation that failed, for one that could not begin. */
export const failed = {
  status: 'error',
  isIdle: false,
  isPending: false,
  isSuccess: false,
  isError: true,
  data: undefined,
} as const;

/** What React Query shows of a mutation under way, for one that is about to be. */
export const pending = {
  status: 'pending',
  isIdle: false,
  isPending: true,
  isSuccess: false,
  isError: false,
  data: undefined,
  error: null,
} as const;
