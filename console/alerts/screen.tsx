import { useMemo } from 'preact/hooks';
import { toCount } from '../format.ts';
import { isFull, type LiveAlerts, useAlertList } from '../live/alert-list.ts';
import { fold, unfold } from '../live/fold.ts';
import { setParams } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { ConnectLink } from '../ui/connect-link.tsx';
import { NoRows } from '../ui/filter-bar.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { More } from '../ui/more.tsx';
import { Failure, Skeleton } from '../ui/panel.tsx';
import { AlertDialog } from './details.tsx';
import { alertFilter, isFolding, readStart } from './filter.ts';
import { AlertFilters, SeverityChips } from './filters.tsx';
import { countSeverities, OverTime, useHistogram, WindowChoice } from './over-time.tsx';
import { AlertTable } from './rows.tsx';
import { SaveButton } from './save.tsx';

const words = text.alerts;

/** Scroll position, in pixels, beyond which new alerts are held back. */
const readingFrom = 160;

/** Live list of alerts with filters. Opening an alert shows a dialog. */
const AlertsScreen = ({ rest }: { rest: string }) => {
  const { value: histogram, error, reload } = useHistogram();
  const start = readStart();
  const { before: _, ...filter } = alertFilter.read();
  const list = useAlertList(filter, start, () => scrollY > readingFrom);
  const counts = useMemo(() => countSeverities(histogram), [histogram]);
  const { alerts, error: listError } = list.state.value;
  // Filters and an empty histogram above an error would look like results.
  if (listError && !alerts) return <Failure error={listError} onRetry={list.retry} />;
  return (
    <div class="alerts">
      <OverTime histogram={histogram} />
      {error?.problem === 'shape' && <Failure error={error} onRetry={reload} />}
      <SeverityChips counts={counts} />
      <AlertFilters />
      {start !== undefined && <Start before={start} />}
      <Body list={list} />
      {rest && <AlertDialog id={rest} />}
    </div>
  );
};

const Body = ({ list }: { list: LiveAlerts }) => {
  const { alerts, held, next, isLoading, error, seenUpTo } = list.state.value;
  const isFolded = isFolding();
  const rows = useMemo(() => (isFolded ? fold : unfold)(alerts ?? []), [alerts, isFolded]);
  if (!alerts) return <Skeleton lines={16} />;
  const count = toCount(alerts.length);
  return (
    <>
      <div class="list-head">
        <ListCount>{next === null ? words.shown(count) : words.shownMore(count)}</ListCount>
        {alerts.length > 0 && <SaveButton />}
      </div>
      {held.length > 0 && <HeldButton count={held.length} onShow={list.showHeld} />}
      {rows.length === 0 && next === null ? (
        <NoRows filter={alertFilter} words={words}>
          <ConnectLink />
        </NoRows>
      ) : (
        <AlertTable rows={rows} seenUpTo={seenUpTo} />
      )}
      {next !== null && isFull(alerts) ? (
        <Continue count={count} before={next} />
      ) : (
        <More label={words.older} isLoading={isLoading} isEnd={next === null} onMore={list.loadOlder} />
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

/** Note above a list that does not begin with the newest alert. */
const Start = ({ before }: { before: number }) => (
  <p class="note">
    {words.before(toCount(before))}{' '}
    <button type="button" class="link" onClick={() => setParams({ before: undefined })}>
      {words.newest}
    </button>
  </p>
);

/** Link to older alerts below a full list. */
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

export const alertsView: ScreenView = { Screen: AlertsScreen, Aside: WindowChoice };
