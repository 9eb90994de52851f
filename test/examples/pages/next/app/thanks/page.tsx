export default async function Thanks({
  searchParams,
}: {
  readonly searchParams: Promise<{ readonly article?: string }>;
}) {
  const { article = 'none' } = await searchParams;
  return <p id="told">succeeded {article}</p>;
}
