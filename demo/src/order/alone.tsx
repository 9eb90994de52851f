import { QueryClient, useMutation } from '@tanstack/react-query';
import { type FormProps, type Order, type Receipt, Slip } from './slip.tsx';

export const queryClient = new QueryClient();

export function OrderForm({ order, url }: FormProps) {
  const { mutate, reset, data, isPending, isError } = useMutation({
    mutationFn: async (variables: Order): Promise<Receipt> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          // It looks right, and is another one on every attempt.
          'Idempotency-Key': `"${crypto.randomUUID()}"`,
        },
        body: JSON.stringify(variables),
      });
      if (!response.ok) throw new Error(`${response.status}`);
      return response.json();
    },
    retry: 3,
  });
  return (
    <form
      aria-label="React Query alone"
      onSubmit={(event) => {
        event.preventDefault();
        if (data) reset();
        else mutate(order);
      }}
    >
      <Slip order={order} receipt={data} />
      <button className="button" data-primary disabled={isPending}>
        {data ? 'Order another' : 'Order'}
      </button>
      <p role="status">
        {isPending && 'Sending …'}
        {data && 'Ordered'}
        {isError && 'Something went wrong. Please try again.'}
      </p>
    </form>
  );
}
