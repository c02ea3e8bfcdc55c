import { useMemo } from 'preact/hooks';
import { toCount } from '../format.ts';
import { place, setParams } from '../router.ts';
import type { ScreenView } from '../screen.ts';
import { text } from '../strings/index.ts';
import { Choice } from '../ui/field.tsx';
import { containsWords } from '../ui/list-filter.tsx';
import { NoMatch, Unloaded } from '../ui/panel.tsx';
import { TextFilter } from '../ui/text-filter.tsx';
import { isMedium } from '../ui/virtual.ts';
import { Pinned } from './pinned.tsx';
import { type Reading, useProcesses } from './readings.ts';
import { ProcessTable, readPinned } from './rows.tsx';

const words = text.processes;

/** Process list, with charts of a pinned process. */
const ProcessesScreen = () => {
  const { reading, error, retry } = useProcesses();
  const pid = readPinned();
  return (
    <div class="list">
      {(reading ?? !error) && (
        <search class="filters" aria-label={text.filters}>
          <TextFilter name="q" label={words.filter} type="search" />
          {isMedium.value && <SortChoice />}
        </search>
      )}
      {reading && pid && <Pinned key={pid} pid={pid} reading={reading} />}
      {reading && <Found reading={reading} />}
      {!reading && <Unloaded error={error} reload={retry} lines={16} />}
    </div>
  );
};

/** Choice of the sort column in narrow windows, because their tables have no headings. */
const SortChoice = () => (
  <Choice
    label={words.sort}
    value={place.value.params['sort'] ?? ''}
    options={[
      ['', words.memory],
      ['cpu-down', words.cpu],
      ['name', words.name],
      ['user', words.user],
      ['started-down', words.started],
    ]}
    onValue={(sort) => setParams({ sort })}
  />
);

const Found = ({ reading }: { reading: Reading }) => {
  const { q = '', sort } = place.value.params;
  const found = useMemo(
    () => reading.processes.filter(({ name, pid, user }) => containsWords(`${name} ${user ?? ''} ${pid}`, q)),
    [reading, q],
  );
  const count = words.shown(toCount(found.length), toCount(reading.count));
  return (
    <>
      <p class="hint">{[count, !sort && words.byMemory, words.cpuHint].filter(Boolean).join(' · ')}</p>
      {found.length === 0 ? (
        <NoMatch title={words.noMatch} hint={words.noMatchHint} onClear={() => setParams({ q: undefined })} />
      ) : (
        <ProcessTable processes={found} />
      )}
    </>
  );
};

export const processesView: ScreenView = { Screen: ProcessesScreen };
