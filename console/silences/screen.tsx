import { useEffect, useMemo } from 'preact/hooks';
import type { Incident, Silence } from 'signalbox/client';
import { client } from '../api.ts';
import { untilTime } from '../clock.ts';
import { toCount } from '../format.ts';
import { createAddressChoice, readPageCount, showNextPage } from '../list-address.ts';
import { type ActiveIncidents, useActiveIncidents } from '../live/active-incidents.ts';
import { useResource } from '../live/resource.ts';
import { type FoundSilences, loadCurrent, mostSilences } from '../live/silences.ts';
import { goTo, place } from '../router.ts';
import { isAllowed } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { More } from '../ui/more.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, Skeleton } from '../ui/panel.tsx';
import { SilenceDialog } from './details.tsx';
import { toNewSilence } from './draft.ts';
import { SilenceForm } from './form.tsx';
import { SilenceTable } from './rows.tsx';

const words = text.silences;

/** Minimum milliseconds between requests while silences change. */
const calm = 200;
const pageSize = 100;
/** Maximum delay of a timer, in milliseconds. */
const longestMs = 2 ** 31 - 1;

const stateChoice = createAddressChoice('state', ['current', 'past', 'all'], 'current', ['pages']);

/** List of active, upcoming and past silences. A silence opens in a dialog. */
const SilencesScreen = ({ rest }: { rest: string }) => {
  const shown = stateChoice.read();
  const limit = Math.min(mostSilences, readPageCount() * pageSize);
  const load = (signal: AbortSignal) => loadSilences(shown, limit, signal);
  const { value, error, reload } = useResource(load, { key: `${shown} ${limit}`, topic: 'silences', calm });
  const incidents = useIncidents(value);
  useNextChange(value?.data ?? [], reload);
  useCreateCommand();
  const close = () => {
    const { back, state } = place.value.params;
    if (back?.startsWith('/')) location.hash = back;
    else goTo('/silences', { state });
  };
  if (error && !value) return <Failure error={error} onRetry={reload} />;
  return (
    <div class="list">
      {value ? <List found={value} incidents={incidents} /> : <Skeleton lines={8} />}
      {error && value && <Failure error={error} onRetry={reload} />}
      {rest === 'new' && (
        <SilenceForm
          draft={toNewSilence(place.value.params)}
          incidents={incidents}
          onSaved={() => {
            reload();
            close();
          }}
          onClose={close}
        />
      )}
      {rest && rest !== 'new' && <SilenceDialog key={rest} id={rest} incidents={incidents} onChanged={reload} />}
    </div>
  );
};

const loadSilences = async (
  shown: keyof typeof words.shownStates,
  limit: number,
  signal: AbortSignal,
): Promise<FoundSilences> => {
  if (shown === 'past') return client.listSilences({ state: 'expired', limit }, { signal });
  if (shown === 'all') return client.listSilences({ limit }, { signal });
  return loadCurrent(signal);
};

/** Loads the incidents that silences can cover. */
const useIncidents = (silences: unknown): ActiveIncidents => {
  const { value, reload } = useActiveIncidents();
  // The start or end of a silence causes no incident event.
  useEffect(reload, [silences]);
  return value;
};

/** Reloads when a silence starts or ends. */
const useNextChange = (silences: readonly Silence[], reload: () => void): void => {
  useEffect(() => {
    const times = silences.flatMap(({ window }) => [window?.startsAt, window?.endsAt]);
    const waits = times.flatMap((time) => (time ? [untilTime(Date.parse(time))] : [])).filter((wait) => wait > 0);
    if (waits.length === 0) return undefined;
    const timer = setTimeout(reload, Math.min(longestMs, Math.min(...waits) + calm));
    return () => clearTimeout(timer);
  }, [silences]);
};

const create = (): void => goTo('/silences/new', { state: place.value.params['state'] });

const useCreateCommand = (): void =>
  useCommands(isAllowed('createSilence') ? [{ title: words.create, icon: 'plus', run: create }] : []);

const List = ({ found, incidents }: { found: FoundSilences; incidents: ActiveIncidents }) => {
  const covered = useMemo(() => incidents && groupBySilence(incidents), [incidents]);
  const { data, total } = found;
  if (data.length === 0) {
    if (stateChoice.read() === 'past') return <Empty title={words.noPast} />;
    return (
      <Empty title={words.none} hint={words.noneHint}>
        {isAllowed('createSilence') && <IconButton icon="plus" kind="primary" label={words.create} onClick={create} />}
      </Empty>
    );
  }
  return (
    <>
      <ListCount>{words.shown(toCount(data.length), toCount(total))}</ListCount>
      <SilenceTable rows={data} covered={covered} />
      <More
        label={words.older}
        isLoading={false}
        isEnd={data.length >= total || data.length >= mostSilences || stateChoice.read() === 'current'}
        onMore={showNextPage}
      />
    </>
  );
};

const groupBySilence = (incidents: readonly Incident[]): ReadonlyMap<string, readonly Incident[]> => {
  const groups = new Map<string, Incident[]>();
  for (const incident of incidents) {
    for (const id of incident.silencedBy) groups.set(id, [...(groups.get(id) ?? []), incident]);
  }
  return groups;
};

const SilenceControls = () => (
  <div class="actions">
    <AddressSegments label={words.show} choice={stateChoice} labels={words.shownStates} />
    {isAllowed('createSilence') && <IconButton icon="plus" kind="primary" label={words.create} onClick={create} />}
  </div>
);

export const silencesView: ScreenView = { Screen: SilencesScreen, Aside: SilenceControls };
