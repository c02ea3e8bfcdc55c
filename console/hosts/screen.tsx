import { useMemo } from 'preact/hooks';
import type { Host } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { IconButton } from '../ui/icon-button.tsx';
import { containsWords, ListFilter } from '../ui/list-filter.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, NoMatch, Unloaded } from '../ui/panel.tsx';
import { AddHost } from './actions.tsx';
import { HostDialog } from './details.tsx';
import { compareHosts } from './looks.tsx';
import { HostTable } from './rows.tsx';

/** Milliseconds for which events are collected before the list reloads. */
const calm = 2000;

/** List of hosts, worst first; one opens in a dialog. */
const HostsScreen = ({ rest }: { rest: string }) => {
  const load = (signal: AbortSignal) => client.listHosts(undefined, { signal });
  const { value, error, reload } = useResource(load, { topic: 'hosts', calm });
  const sorted = useMemo(() => (value?.data ?? []).toSorted(compareHosts), [value]);
  useCommands(isAllowed('createHost') ? [{ title: words.add, icon: 'plus', run: add }] : []);
  return (
    <div class="list">
      {value ? <List hosts={sorted} /> : <Unloaded error={error} reload={reload} lines={10} />}
      {error && value && <Failure error={error} onRetry={reload} />}
      {!rest && place.value.params['new'] && isAllowed('createHost') && (
        <AddHost onClose={() => goTo('/hosts')} onChanged={reload} />
      )}
      {rest && value && (
        <HostDialog key={rest} name={rest} host={sorted.find(({ name }) => name === rest)} onChanged={reload} />
      )}
    </div>
  );
};

const add = (): void => goTo('/hosts', { new: '1' });

const List = ({ hosts }: { hosts: readonly Host[] }) => {
  if (hosts.length === 0) {
    return (
      <Empty title={words.none} hint={words.noneHint}>
        <HostControls />
      </Empty>
    );
  }
  const silent = hosts.filter(({ state }) => state === 'silent').length;
  const found = hosts.filter((host) => containsWords(toWords(host), place.value.params['q']));
  return (
    <>
      <ListFilter label={words.filter} />
      <ListCount>{words.counted(toCount(hosts.length), toCount(silent))}</ListCount>
      {found.length === 0 ? (
        <NoMatch title={words.noMatch} onClear={() => setParams({ q: undefined })} />
      ) : (
        <HostTable rows={found} />
      )}
    </>
  );
};

/** Searchable text of a host. */
const toWords = ({ name, hostname, tags, note, state }: Host): string =>
  [name, hostname ?? '', ...tags, note, words.states[state]].join(' ');

const HostControls = () =>
  isAllowed('createHost') ? <IconButton icon="plus" kind="primary" label={words.add} onClick={add} /> : null;

export const hostsView: ScreenView = { Screen: HostsScreen, Aside: HostControls };
