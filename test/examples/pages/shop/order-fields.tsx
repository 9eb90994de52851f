export function OrderFields({ told }: { readonly told: string }) {
  return (
    <>
      <input name="article" aria-label="Article" />
      <input name="then" aria-label="Then" />
      <button>Order</button>
      <p id="told">{told.trim()}</p>
    </>
  );
}
