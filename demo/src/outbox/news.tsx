import { useEffect, useRef, useState } from 'react';
import { Told as LiveRegion } from '../status/told.tsx';
import { describeNews, type Told } from './describe-news.ts';

/** Tells screen readers what has become of the reports: at transitions only. */
export function News({ reports }: { readonly reports: readonly Told[] }) {
  const before = useRef<readonly Told[]>(undefined);
  const [text, setText] = useState('');
  useEffect(() => {
    const news = describeNews(before.current, reports);
    before.current = reports;
    if (news) setText(news);
  }, [reports]);
  return <LiveRegion text={text} />;
}
