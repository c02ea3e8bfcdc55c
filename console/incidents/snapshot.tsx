import { useSignal } from '@preact/signals';
import type { IncidentDetails, MachineSnapshot } from 'signalbox/client';
import { client } from '../api.ts';
import { toBytes, toClock, toCount, toPercent, toShortNumber, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { DiskList } from '../ui/disk-list.tsx';
import { DiskChart, MachineCharts } from '../ui/machine-charts.tsx';
import { Panel, Unloaded } from '../ui/panel.tsx';
import { ProcessList } from '../ui/process-list.tsx';
import { toSamples } from '../ui/samples.ts';

const words = text.incidents.snapshot;

/** Highest journal priority number that counts as an error. */
const errorPriority = 3;

/** Snapshot of the machine, taken when the incident opened. Loaded on demand. */
export const SnapshotOf = ({ incident: { id, snapshot } }: { incident: IncidentDetails }) => {
  const isOpen = useSignal(false);
  if (!snapshot || !isMounted('getIncidentSnapshot')) return null;
  return (
    <details
      class="snapshot"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary>
        <h3>{words.title}</h3> <span class="hint">{words.at(toTime(new Date(snapshot)))}</span>
      </summary>
      {isOpen.value && <Loaded id={id} />}
    </details>
  );
};

const Loaded = ({ id }: { id: string }) => {
  const load = (signal: AbortSignal) => client.getIncidentSnapshot({ id }, { signal });
  const { value, error, reload } = useResource(load);
  if (!value) return <Unloaded error={error} reload={reload} lines={12} />;
  return <Shown snapshot={value} />;
};

const Shown = ({ snapshot }: { snapshot: MachineSnapshot }) => {
  const { history, processes, disks, failedUnits, journal } = snapshot;
  const samples = history && history.count > 1 && toSamples(history);
  return (
    <div class="snapshot-parts">
      <dl class="facts">
        {toFacts(snapshot).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {processes && (
        <>
          <Panel title={words.byCpu}>
            <ProcessList label={words.byCpu} processes={processes.byCpu} />
          </Panel>
          <Panel title={words.byMemory}>
            <ProcessList label={words.byMemory} processes={processes.byMemory} />
          </Panel>
        </>
      )}
      {samples && (
        <MachineCharts samples={samples} span="live">
          <DiskChart samples={samples} span="live" />
        </MachineCharts>
      )}
      {disks.length > 0 && (
        <Panel title={text.overview.disks}>
          <DiskList disks={disks} />
        </Panel>
      )}
      {failedUnits && (
        <Panel title={words.failedUnits} kind="wide">
          {failedUnits.length === 0 && <p class="hint">{words.noFailedUnits}</p>}
          <ul class="failed-units">
            {failedUnits.map((name) => (
              <li key={name} class="mono">
                {name}
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title={words.journal} kind="wide">
        {journal?.length ? <Journal lines={journal} /> : <p class="hint">{words.noJournal}</p>}
      </Panel>
    </div>
  );
};

const Journal = ({ lines }: { lines: NonNullable<MachineSnapshot['journal']> }) => (
  // Focusable, so that the keyboard can scroll.
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  <ol class="journal" tabIndex={0} reversed aria-label={words.journal}>
    {lines.toReversed().map(({ time, source, priority, text: line }, index) => (
      <li key={index} class={priority !== null && priority <= errorPriority ? 'bad' : ''}>
        <time dateTime={time}>{toClock(new Date(time))}</time> <b>{source}</b> <bdi>{line}</bdi>
      </li>
    ))}
  </ol>
);

const toFacts = ({ usage, pressure, processes }: MachineSnapshot): [string, string][] => {
  const { cpu, load, memoryUsed, memoryTotal, swapUsed, networkReceived, networkSent } = usage;
  const facts: [string, string | null][] = [
    [text.overview.cpu, cpu === null ? null : toPercent(cpu * 100)],
    [words.load, load === null ? null : toShortNumber(load)],
    [
      text.overview.memory,
      memoryUsed === null || memoryTotal === null ? null : words.memory(toBytes(memoryUsed), toBytes(memoryTotal)),
    ],
    [words.swap, swapUsed === null ? null : toBytes(swapUsed)],
    [
      text.overview.network,
      networkReceived === null || networkSent === null
        ? null
        : words.network(`${toBytes(networkReceived)}/s`, `${toBytes(networkSent)}/s`),
    ],
    [words.count, processes && toCount(processes.count)],
    [words.pressure, toPressure(pressure)],
  ];
  return facts.flatMap(([name, value]): [string, string][] => (value === null ? [] : [[name, value]]));
};

const toPressure = ({ cpu, memory, io }: MachineSnapshot['pressure']): string | null =>
  cpu === null && memory === null && io === null
    ? null
    : [cpu, memory, io].map((share) => (share === null ? '–' : toPercent(share))).join(' · ');
