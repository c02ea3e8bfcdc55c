import { useMemo } from 'preact/hooks';
import type { Heartbeat, HeartbeatList } from 'signalbox/client';
import { toCount } from '../format.ts';
import { type ActiveIncidents, useActiveIncidents } from '../live/active-incidents.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { heartbeatTexts as words } from '../strings/heartbeats.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { containsWords, ListFilter } from '../ui/list-filter.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, NoMatch, Unloaded } from '../ui/panel.tsx';
import { HeartbeatDialog } from './details.tsx';
import { blankHeartbeat } from './draft.ts';
import { HeartbeatForm } from './form.tsx';
import { useHeartbeats } from './list.ts';
import { HeartbeatTable } from './rows.tsx';

/** List of heartbeats, late heartbeats first. A heartbeat opens in a dialog. */
const HeartbeatsScreen = ({ rest }: { rest: string }) => {
  const { value, error, reload } = useHeartbeats();
  const incidents = useActiveIncidents().value;
  useCommands(isAllowed('putHeartbeat') ? [{ title: words.create, icon: 'plus', run: create }] : []);
  return (
    <div class="list">
      {value ? <List found={value} incidents={incidents} /> : <Unloaded error={error} reload={reload} lines={10} />}
      {error && value && <Failure error={error} onRetry={reload} />}
      {!rest && place.value.params['new'] && (
        <HeartbeatForm draft={blankHeartbeat()} onSaved={onCreated(reload)} onClose={() => goTo('/heartbeats')} />
      )}
      {rest && <HeartbeatDialog key={rest} name={rest} incidents={incidents} onChanged={reload} />}
    </div>
  );
};

const create = (): void => goTo('/heartbeats', { new: '1' });

/** Opens the new heartbeat, with its ping address. */
const onCreated =
  (reload: () => void) =>
  (name: string): void => {
    reload();
    goTo(`/heartbeats/${encodeURIComponent(name)}`);
  };

/** Sort order: down first, paused last. */
const ranks: Partial<Record<Heartbeat['state'], number>> = { down: 0, late: 1, paused: 3 };

const rankOf = ({ state }: Heartbeat): number => ranks[state] ?? 2;

const List = ({ found: { data }, incidents }: { found: HeartbeatList; incidents: ActiveIncidents }) => {
  const sorted = useMemo(() => data.toSorted((one, other) => rankOf(one) - rankOf(other)), [data]);
  if (data.length === 0) {
    return (
      <Empty title={words.none} hint={words.noneHint}>
        {isAllowed('putHeartbeat') && <IconButton icon="plus" kind="primary" label={words.create} onClick={create} />}
      </Empty>
    );
  }
  const bad = data.filter(({ state }) => state === 'down' || state === 'late').length;
  const found = sorted.filter(({ name, description, tags }) =>
    containsWords([name, description, ...tags].join(' '), place.value.params['q']),
  );
  return (
    <>
      <ListFilter label={words.filter} />
      <ListCount>{words.counted(toCount(data.length), toCount(bad))}</ListCount>
      {found.length === 0 ? (
        <NoMatch title={words.noMatch} onClear={() => setParams({ q: undefined })} />
      ) : (
        <HeartbeatTable rows={found} incidents={incidents} />
      )}
    </>
  );
};

const HeartbeatControls = () =>
  isAllowed('putHeartbeat') ? <IconButton icon="plus" kind="primary" label={words.create} onClick={create} /> : null;

export const heartbeatsView: ScreenView = { Screen: HeartbeatsScreen, Aside: HeartbeatControls };
