import { useEffect, useMemo, useRef } from 'preact/hooks';
import { toAddress } from '../api.ts';
import { countAlerts, searchAlerts } from '../calls/alerts.ts';
import { toCount } from '../format.ts';
import { isMounted } from '../mounts.ts';
import { setParams } from '../router.ts';
import { text } from '../strings/index.ts';
import { CopyButton } from '../ui/copy.tsx';
import { Empty, Failure, NoMatch, Skeleton } from '../ui/panel.tsx';
import { AlertDialog } from './details.tsx';
import { clearFilter, hasFilter, isFolding, readFilter, readStart } from './filter.ts';
import { Filters, LevelChips } from './filters.tsx';
import { fold, unfold } from './fold.ts';
import { type AlertList, isFull, useAlertList } from './list.ts';
import { countLevels, OverTime, useHistogram } from './over-time.tsx';
import { AlertTable } from './rows.tsx';

const words = text.alerts;

/** Pixels scrolled from where on new alerts are held back. */
const readingFrom = 160;

/** Alerts as they arrive, with filters; one alert opens over the list. */
export const AlertsScreen = ({ rest }: { rest: string }) => {
  const { value: histogram, error, reload } = useHistogram();
  const start = readStart();
  const list = useAlertList(readFilter(), start, () => scrollY > readingFrom);
  const counts = useMemo(() => countLevels(histogram), [histogram]);
  return (
    <div class="alerts">
      {isMounted(countAlerts) && <OverTime histogram={histogram} />}
      {error?.problem === 'shape' && <Failure error={error} onRetry={reload} />}
      <LevelChips counts={counts} />
      <Filters />
      {!isMounted(searchAlerts) && <p class="note">{words.limited}</p>}
      {start !== undefined && <Start before={start} />}
      <Body list={list} />
      {rest && <AlertDialog id={rest} />}
    </div>
  );
};

const Body = ({ list }: { list: AlertList }) => {
  const { alerts, held, next, isLoading, error, seenUpTo } = list.state.value;
  const isFolded = isFolding();
  const rows = useMemo(() => (isFolded ? fold : unfold)(alerts ?? []), [alerts, isFolded]);
  if (error && !alerts) return <Failure error={error} onRetry={list.retry} />;
  if (!alerts) return <Skeleton lines={16} />;
  const count = toCount(alerts.length);
  return (
    <>
      <p class="hint" role="status">
        {next === null ? words.shown(count) : words.shownMore(count)}
      </p>
      {held.length > 0 && <HeldButton count={held.length} onShow={list.showHeld} />}
      {rows.length === 0 && next === null ? <NoAlerts /> : <AlertTable rows={rows} seenUpTo={seenUpTo} />}
      {next !== null && isFull(alerts) ? (
        <Continue count={count} before={next} />
      ) : (
        <More list={list} isLoading={isLoading} isEnd={next === null} />
      )}
      {error && <Failure error={error} onRetry={list.retry} />}
    </>
  );
};

const HeldButton = ({ count, onShow }: { count: number; onShow: () => void }) => (
  <button
    type="button"
    class="primary held"
    onClick={() => {
      scrollTo(0, 0);
      onShow();
    }}
  >
    {words.fresh(toCount(count))}
  </button>
);

/** Where a list begins that does not begin with the newest alert. */
const Start = ({ before }: { before: number }) => (
  <p class="note">
    {words.before(toCount(before))}{' '}
    <button type="button" class="link" onClick={() => setParams({ before: undefined })}>
      {words.newest}
    </button>
  </p>
);

/** Ends a list that holds as much as it may. */
const Continue = ({ count, before }: { count: string; before: number }) => (
  <div class="more">
    <p class="hint">{words.full(count)}</p>
    <button
      type="button"
      onClick={() => {
        scrollTo(0, 0);
        setParams({ before: String(before) });
      }}
    >
      {words.continue}
    </button>
  </div>
);

/** Loads the next page when it comes near the visible part. */
const More = ({ list, isLoading, isEnd }: { list: AlertList; isLoading: boolean; isEnd: boolean }) => {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!element.current || isEnd || isLoading) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && list.loadOlder(), {
      rootMargin: '4000px',
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [list, isEnd, isLoading]);
  return (
    <div ref={element} class="more">
      {!isEnd && (
        <button type="button" aria-disabled={isLoading} onClick={() => void list.loadOlder()}>
          {isLoading ? text.loading : words.older}
        </button>
      )}
    </div>
  );
};

const NoAlerts = () => {
  if (hasFilter()) return <NoMatch title={words.noMatch} hint={words.noMatchHint} onClear={clearFilter} />;
  const example = `curl ${toAddress('/api/alert')} -H 'Content-Type: application/json' -d '{"source": "me", "level": "INFO", "message": "hello"}'`;
  return (
    <Empty title={words.empty} hint={words.emptyHint}>
      <pre>{example}</pre>
      <CopyButton value={() => example} />
    </Empty>
  );
};
