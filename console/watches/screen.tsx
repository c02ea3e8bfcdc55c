import { useMemo } from 'preact/hooks';
import type { Watch } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { type ActiveIncidents, useActiveIncidents } from '../live/active-incidents.ts';
import { useRereading } from '../live/rereading.ts';
import { useResource } from '../live/resource.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { watchTexts as words } from '../strings/watches.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { containsWords, ListFilter } from '../ui/list-filter.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, NoMatch, Unloaded } from '../ui/panel.tsx';
import { WatchDialog } from './details.tsx';
import { toNewWatch } from './draft.ts';
import { WatchForm } from './form.tsx';
import { compareStates, describeWatch } from './kinds.ts';
import { WatchTable } from './rows.tsx';

/** Milliseconds between reloads. Equal to the machine's check interval. Shorter while a watch has not been checked. */
const rereadEvery = 10_000;
const rereadSoon = 1500;

/** List of watches, worst first. A watch opens in a dialog. */
const WatchesScreen = ({ rest }: { rest: string }) => {
  const resource = useResource((signal) => client.listWatches(undefined, { signal }), { isKept: true });
  const incidents = useActiveIncidents().value;
  useCreateCommand();
  const { value, error, reload } = resource;
  const isNew = value?.data.some(({ state }) => state === 'new') === true;
  useRereading(resource, isNew ? rereadSoon : rereadEvery);
  const sorted = useMemo(() => (value?.data ?? []).toSorted(compareStates), [value]);
  return (
    <div class="list">
      {value ? <List watches={sorted} incidents={incidents} /> : <Unloaded error={error} reload={reload} lines={10} />}
      {error && value && <Failure error={error} onRetry={reload} />}
      {!rest && place.value.params['new'] && value && (
        <WatchForm
          draft={toNewWatch(place.value.params, value.data)}
          known={value.data}
          onSaved={reload}
          onClose={close}
        />
      )}
      {rest && value && (
        <WatchDialog
          key={rest}
          name={rest}
          watch={value.data.find(({ name }) => name === rest)}
          known={value.data}
          incidents={incidents}
          onChanged={reload}
        />
      )}
    </div>
  );
};

const close = (): void => {
  const { back } = place.value.params;
  if (back?.startsWith('/')) location.hash = back;
  else goTo('/watches');
};

const create = (): void => goTo('/watches', { new: '1' });

const useCreateCommand = (): void =>
  useCommands(isAllowed('createWatch') ? [{ title: words.create, icon: 'plus', run: create }] : []);

const List = ({ watches, incidents }: { watches: readonly Watch[]; incidents: ActiveIncidents }) => {
  if (watches.length === 0) {
    return (
      <Empty title={words.none} hint={words.noneHint}>
        {isAllowed('createWatch') && <IconButton icon="plus" kind="primary" label={words.create} onClick={create} />}
      </Empty>
    );
  }
  const firing = watches.filter(({ state }) => state === 'firing').length;
  const found = watches.filter((watch) => containsWords(toWords(watch), place.value.params['q']));
  return (
    <>
      <ListFilter label={words.filter} />
      <ListCount>{words.counted(toCount(watches.length), toCount(firing))}</ListCount>
      {found.length === 0 ? (
        <NoMatch title={words.noMatch} onClear={() => setParams({ q: undefined })} />
      ) : (
        <WatchTable rows={found} incidents={incidents} />
      )}
    </>
  );
};

/** Returns the text that the filter searches for a watch. */
const toWords = ({ name, settings, things }: Watch): string =>
  [name, describeWatch(settings), ...things.map(({ thing }) => thing)].join(' ');

const WatchControls = () =>
  isAllowed('createWatch') ? <IconButton icon="plus" kind="primary" label={words.create} onClick={create} /> : null;

export const watchesView: ScreenView = { Screen: WatchesScreen, Aside: WatchControls };
