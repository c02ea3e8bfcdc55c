import { useEffect, useMemo } from 'preact/hooks';
import type { Incident, IncidentPage } from 'signalbox/client';
import { client } from '../api.ts';
import { toCount, toFull } from '../format.ts';
import { showNextPage } from '../list-address.ts';
import { compareUrgency, openIncidents, toggleDesktopNotifications } from '../live/incidents.ts';
import { useEvents, useResource } from '../live/resource.ts';
import { desktopNotifications } from '../preferences.ts';
import { place, setParams } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { session } from '../session.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { ChipToggle } from '../ui/chip.tsx';
import { ConnectLink } from '../ui/connect-link.tsx';
import { Choice } from '../ui/field.tsx';
import { ClearButton, FilterBar } from '../ui/filter-bar.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { ListCount } from '../ui/list-head.tsx';
import { More } from '../ui/more.tsx';
import { Empty, Failure, NoMatch, Skeleton } from '../ui/panel.tsx';
import { severityOptions } from '../ui/severity.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { notify } from '../ui/toast.tsx';
import { acknowledge, changes, question, resolve } from './actions.ts';
import { IncidentDialog } from './details.tsx';
import { incidentFilter, readQuery, stateChoice } from './filter.ts';
import { QuestionDialog } from './questions.tsx';
import { IncidentTable } from './rows.tsx';
import { clearSelection, isSelected } from './selection.ts';
import { useIncidentShortcuts } from './shortcuts.ts';

const words = text.incidents;

/** Minimum milliseconds between requests while alerts arrive. */
const calm = 500;

/** List of incidents, worst first, then oldest first. An incident opens in a dialog. */
const IncidentsScreen = ({ rest }: { rest: string }) => {
  const query = readQuery();
  const load = (signal: AbortSignal) => client.listIncidents(query, { signal });
  const key = JSON.stringify(query);
  const { value, error, reload } = useResource(load, { key, topic: 'incidents', calm });
  useEffect(reload, [changes.value]);
  useEvents('silences', reload);
  useEffect(clearSelection, [stateChoice.read()]);
  const rows = useMemo(() => {
    const data = value?.data ?? [];
    return query.state === 'active' ? data.toSorted(compareUrgency) : data;
  }, [value]);
  useIncidentShortcuts((isOpen) => findTargets(rows, isOpen ? rest : undefined));
  if (error && !value) return <Failure error={error} onRetry={reload} />;
  return (
    <div class="list incidents">
      <Filters />
      {value ? <Found page={value} rows={rows} /> : <Skeleton lines={12} />}
      {error && value && <Failure error={error} onRetry={reload} />}
      {rest && <IncidentDialog id={rest} />}
      <QuestionDialog />
    </div>
  );
};

/**
 * Returns the incidents that a key acts on: the incident in the dialog, or else the selected incidents, or else the
 * incident in the focused row.
 */
const findTargets = (rows: readonly Incident[], open: string | undefined): readonly Incident[] => {
  if (open !== undefined) return rows.filter(({ id, number }) => id === open || String(number) === open);
  const marked = rows.filter(({ id }) => isSelected(id));
  if (marked.length > 0) return marked;
  const row = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row'];
  return rows.filter(({ id }) => id === row);
};

const Filters = () => {
  const { level = '', mine } = place.value.params;
  return (
    <FilterBar label={words.filter} others={['level', 'source', 'hostname', 'mine']}>
      <Choice
        label={words.severity}
        value={level}
        options={[['', words.anySeverity], ...severityOptions]}
        onValue={(value) => setParams({ level: value })}
      />
      <TextFilter name="source" label={words.sourceIs} example="shop*" />
      <TextFilter name="hostname" label={words.hostIs} example="web*" />
      {session.value && (
        <ChipToggle
          tone="info"
          icon="user"
          pressed={mine === 'true'}
          onToggle={() => setParams({ mine: mine === 'true' ? undefined : 'true' })}
        >
          {words.mine}
        </ChipToggle>
      )}
      <ClearButton filter={incidentFilter} />
    </FilterBar>
  );
};

const Found = ({ page: { total, next }, rows }: { page: IncidentPage; rows: readonly Incident[] }) => {
  if (rows.length === 0) return <Nothing />;
  return (
    <>
      <Marked rows={rows} />
      <ListCount>{words.shown(toCount(rows.length), toCount(total))}</ListCount>
      <IncidentTable rows={rows} />
      <More label={words.older} isLoading={false} isEnd={next === null || rows.length >= 1000} onMore={showNextPage} />
    </>
  );
};

/** Actions for the selected incidents. */
const Marked = ({ rows }: { rows: readonly Incident[] }) => {
  const marked = rows.filter(({ id }) => isSelected(id));
  if (marked.length === 0) return null;
  const run = (act: (incidents: readonly Incident[]) => void) => () => {
    act(marked.filter(({ state }) => state !== 'resolved'));
    clearSelection();
  };
  const snooze = (incidents: readonly Incident[]) => {
    question.value = { kind: 'snooze', incidents };
  };
  return (
    <div class="actions marked" role="toolbar" aria-label={words.selected(toCount(marked.length))}>
      <span class="strong">{words.selected(toCount(marked.length))}</span>
      <IconButton
        icon="user"
        label={words.acknowledge}
        kind="primary"
        onClick={run((incidents) => void acknowledge(incidents))}
      />
      <IconButton icon="clock" label={words.snooze} onClick={run(snooze)} />
      <IconButton icon="check" label={words.resolve} onClick={run((incidents) => void resolve(incidents))} />
      <IconButton icon="close" label={words.clearSelection} kind="quiet" onClick={clearSelection} />
    </div>
  );
};

const Nothing = () => {
  if (incidentFilter.isSet()) {
    return <NoMatch title={words.noMatch} hint={words.noMatchHint} onClear={incidentFilter.clear} />;
  }
  if (stateChoice.read() !== 'active') return <Empty title={words.none} hint={words.quietHint} />;
  return <Quiet />;
};

/** Message shown if no incident is open. */
const Quiet = () => {
  const last = openIncidents.value.value?.quietSince;
  return (
    <Empty title={words.quiet} hint={last ? words.quietSince(toFull(new Date(last))) : undefined}>
      <p class="hint">{words.quietHint}</p>
      {!last && <ConnectLink />}
    </Empty>
  );
};

const IncidentControls = () => (
  <div class="actions">
    <ChipToggle tone="info" icon="alerts" pressed={desktopNotifications.value} onToggle={toggleNotifications}>
      {words.notify}
    </ChipToggle>
    <AddressSegments label={words.show} choice={stateChoice} labels={words.shownStates} />
  </div>
);

const toggleNotifications = async (): Promise<void> => {
  if (!(await toggleDesktopNotifications())) notify(words.notifyDenied, { kind: 'failure' });
};

export const incidentsView: ScreenView = { Screen: IncidentsScreen, Aside: IncidentControls };
