import { useQuery } from '@tanstack/react-query';
import type { Kite } from '../api/kites.ts';
import { StatusPanel } from '../status/status-panel.tsx';
import type { Visit } from '../visits/visit.ts';
import { EmptyShelf } from './empty-shelf.tsx';
import { KiteCard } from './kite-card.tsx';
import './shop.css';

interface Props {
  readonly visit: Visit;
  readonly onReload: () => void;
  readonly onOrder: (kite: Kite) => void;
}

/** The products, or what stands in their place. What is there stays there while it is fetched anew. */
export function Catalogue({ visit, onReload, onOrder }: Props) {
  const { queryKey } = visit.query;
  const { data, dataUpdatedAt } = useQuery(visit.query);
  return (
    <section className="catalogue" aria-labelledby="catalogue-title">
      <h2 id="catalogue-title" className="visually-hidden">
        Catalogue
      </h2>
      <StatusPanel queryKey={queryKey} loadedAt={dataUpdatedAt} onReload={onReload} />
      {data ? <Shelf kites={data} onOrder={onOrder} /> : <EmptyShelf />}
    </section>
  );
}

interface ShelfProps extends Pick<Props, 'onOrder'> {
  readonly kites: readonly Kite[];
}

function Shelf({ kites, onOrder }: ShelfProps) {
  return (
    <ul className="shelf">
      {kites.map((kite) => (
        <KiteCard key={kite.id} kite={kite} onOrder={onOrder} />
      ))}
    </ul>
  );
}
