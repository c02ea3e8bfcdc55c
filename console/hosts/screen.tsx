import { useMemo } from 'preact/hooks';
import type { Host } from 'signalbox/client';
import { compareHosts } from '../../src/kit/host-rank.ts';
import { toCount } from '../format.ts';
import { createAddressChoice } from '../list-address.ts';
import { knownHosts } from '../live/hosts.ts';
import { goTo, place, setParams } from '../router.ts';
import { isAllowed, isReadable } from '../routes.ts';
import type { ScreenView } from '../screen.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { Choice } from '../ui/field.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { containsWords, ListFilter } from '../ui/list-filter.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { useCommands } from '../ui/palette.tsx';
import { Empty, Failure, NoMatch, Unloaded } from '../ui/panel.tsx';
import { AddHost } from './actions.tsx';
import { HostDialog } from './details.tsx';
import { HostTable } from './rows.tsx';

/** List of hosts, worst first. A host opens in a dialog. */
const HostsScreen = ({ rest }: { rest: string }) => {
  const { value: loaded, error, reload } = knownHosts.value;
  // Without a login, nothing is loading.
  const value = loaded ?? (isReadable('listHosts') ? undefined : []);
  const sorted = useMemo(() => (value ?? []).toSorted(compareHosts), [value]);
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
  const { q, tag } = place.value.params;
  const found = hosts.filter((host) => containsWords(toWords(host), q) && (!tag || host.tags.includes(tag)));
  const groups = grouping.read() === 'tags' ? groupByTag(found) : [{ title: undefined, rows: found }];
  return (
    <>
      <ListFilter label={words.filter}>
        <TagFilter hosts={hosts} />
      </ListFilter>
      <ListCount>{words.counted(toCount(hosts.length), toCount(silent))}</ListCount>
      {found.length === 0 ? (
        <NoMatch title={words.noMatch} onClear={() => setParams({ q: undefined, tag: undefined })} />
      ) : (
        groups.map(({ title, rows }) => (
          <section key={title ?? ''} class="host-group">
            {title !== undefined && (
              <h2>
                <bdi>{title || words.untagged}</bdi> <span class="hint">{toCount(rows.length)}</span>
              </h2>
            )}
            <HostTable rows={rows} />
          </section>
        ))
      )}
    </>
  );
};

const grouping = createAddressChoice('group', ['none', 'tags'], 'none');

/** Selection of a tag, and a switch for groups. Shows nothing if there are no tags. */
const TagFilter = ({ hosts }: { hosts: readonly Host[] }) => {
  const tags = listTags(hosts);
  if (tags.length === 0) return null;
  return (
    <>
      <Choice
        label={words.tag}
        value={place.value.params['tag'] ?? ''}
        options={[['', words.allTags], ...tags.map((tag): [string, string] => [tag, tag])]}
        onValue={(tag) => setParams({ tag: tag || undefined })}
      />
      <AddressSegments label={words.group} choice={grouping} labels={words.groups} />
    </>
  );
};

const listTags = (hosts: readonly Host[]): string[] => [...new Set(hosts.flatMap(({ tags }) => tags))].toSorted();

/** Groups hosts by tag. Hosts without tags come last. A host is in the group of each of its tags. */
const groupByTag = (hosts: readonly Host[]): { title: string; rows: readonly Host[] }[] =>
  [...listTags(hosts), '']
    .map((title) => ({
      title,
      rows: hosts.filter(({ tags }) => (title === '' ? tags.length === 0 : tags.includes(title))),
    }))
    .filter(({ rows }) => rows.length > 0);

/** Returns the text that the filter searches for a host. */
const toWords = ({ name, hostname, aliases, tags, note, state }: Host): string =>
  [name, hostname ?? '', ...aliases, ...tags, note, words.states[state]].join(' ');

const HostControls = () =>
  isAllowed('createHost') ? <IconButton icon="plus" kind="primary" label={words.add} onClick={add} /> : null;

export const hostsView: ScreenView = { Screen: HostsScreen, Aside: HostControls };
