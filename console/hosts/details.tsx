import type { Host, HostHistory } from 'signalbox/client';
import { client } from '../api.ts';
import { toBytes, toFull, toMinute, toPercent, toWholeBytes } from '../format.ts';
import { createAddressChoice } from '../list-address.ts';
import { useRereading } from '../live/rereading.ts';
import { useResource } from '../live/resource.ts';
import { goTo } from '../router.ts';
import { isReadable } from '../routes.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { text } from '../strings/index.ts';
import { AddressSegments } from '../ui/address-segments.tsx';
import { Chart } from '../ui/chart.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { DiskList } from '../ui/disk-list.tsx';
import { Facts } from '../ui/facts.tsx';
import { HostChip } from '../ui/host-looks.tsx';
import { Empty } from '../ui/panel.tsx';
import type { PlotData } from '../ui/plot.ts';
import { ProcessList } from '../ui/process-list.tsx';
import { ThingLinks } from '../ui/thing-links.tsx';
import { Since } from '../ui/time.tsx';
import { HostActions } from './actions.tsx';
import { HostIncidents } from './incidents.tsx';
import { readListParams } from './rows.tsx';
import { HostWatches } from './watches.tsx';

interface Props {
  name: string;
  /** Undefined if no host has this name. */
  host: Host | undefined;
  onChanged: () => void;
}

/** Dialog for a host with its state, history, disks and largest processes. */
export const HostDialog = ({ name, host, onChanged }: Props) => (
  <Dialog title={words.details(name)} kind="drawer" onClose={() => goTo('/hosts', readListParams())}>
    {host ? <Details host={host} onChanged={onChanged} /> : <Empty title={words.missing} hint={words.missingHint} />}
  </Dialog>
);

const Details = ({ host, onChanged }: { host: Host; onChanged: () => void }) => {
  const { name, readings, clockSkewSeconds, duplicates, lastSilence } = host;
  return (
    <article class="alert">
      <p class="alert-head">
        <HostChip {...host} />
        <span class="hint">{host.since && <Since time={host.since} />}</span>
      </p>
      {clockSkewSeconds !== null && <p class="note">{words.skew(String(Math.round(clockSkewSeconds)))}</p>}
      {duplicates.length > 0 && (
        <p class="note">{words.duplicates(duplicates.map(({ hostname }) => hostname).join(', '))}</p>
      )}
      <div class="actions">
        <HostActions host={host} onChanged={onChanged} />
      </div>
      <HostIncidents host={host} />
      <History name={name} />
      {readings?.disks && readings.disks.length > 0 && (
        <section>
          <h2>{words.disks}</h2>
          <DiskList disks={readings.disks} />
        </section>
      )}
      {isReadable('listWatches') && <HostWatches host={host} />}
      {isReadable('listHostProcesses') && <Processes name={name} />}
      <Facts
        facts={[
          [words.facts.tags, host.tags.join(', ')],
          [words.facts.note, host.note],
          [text.dependsOn, host.dependsOn.length > 0 && <ThingLinks names={host.dependsOn} />],
          [words.facts.hostname, [...(host.hostname ? [host.hostname] : []), ...host.aliases].join(', ')],
          [words.facts.os, host.osName],
          [words.facts.version, host.version],
          [words.facts.lastReport, host.lastReportAt && toFull(new Date(host.lastReportAt))],
          [words.facts.commands, host.allowsCommands && words.allowsCommands],
          [
            words.states.silent,
            lastSilence &&
              words.silence(toMinute(Date.parse(lastSilence.from)), toMinute(Date.parse(lastSilence.until))),
          ],
        ]}
      />
    </article>
  );
};

type Range = keyof typeof words.ranges;

/** Length and step of each range, in seconds. */
const ranges = {
  minutes: { seconds: 600, step: 10 },
  hour: { seconds: 3600, step: 10 },
  day: { seconds: 86_400, step: 60 },
  week: { seconds: 7 * 86_400, step: 600 },
  quarter: { seconds: 90 * 86_400, step: 600 },
} as const satisfies Record<Range, { seconds: number; step: number }>;

const rangeChoice = createAddressChoice('range', Object.keys(ranges) as Range[], 'hour');

const rereadEvery = 10_000;

const History = ({ name }: { name: string }) => {
  const range = rangeChoice.read();
  const { seconds, step } = ranges[range];
  const load = (signal: AbortSignal) => {
    const from = new Date(Date.now() - seconds * 1000).toISOString();
    return client.getHostHistory({ name, from, step }, { signal });
  };
  const resource = useResource(load, { key: `${name} ${range}` });
  useRereading(resource, rereadEvery);
  const history = resource.value;
  const plot = (series: PlotData['series'], rest: Partial<PlotData>) => history && toPlot(history, series, rest);
  return (
    <>
      <AddressSegments label={words.range} choice={rangeChoice} labels={words.ranges} />
      <div class="charts">
        <Chart
          title={words.cpu}
          data={plot([{ label: words.cpu, color: '--series-1', values: toPercents(history?.cpu) }], share)}
        />
        <Chart
          title={words.memory}
          data={plot(
            [{ label: words.memory, color: '--series-1', values: toShares(history?.memoryUsed, history?.memoryTotal) }],
            share,
          )}
        />
        <Chart
          title={words.network}
          data={plot(
            [
              { label: '↓', color: '--series-1', values: history?.networkReceived ?? [] },
              { label: '↑', color: '--series-2', values: history?.networkSent ?? [] },
            ],
            { isBytes: true, format: (value) => `${toBytes(value)}/s`, axis: toWholeBytes },
          )}
        />
      </div>
    </>
  );
};

const share = { top: 100, format: toPercent, axis: (value: number) => `${value} %` };

type Values = (number | null)[];

const toPercents = (values: Values = []): Values => values.map((value) => value && value * 100);

const toShares = (used: Values = [], total: Values = []): Values =>
  used.map((value, index) => {
    const whole = total[index];
    return value === null || !whole ? null : (value / whole) * 100;
  });

const toPlot = (
  { start, step, count }: HostHistory,
  series: PlotData['series'],
  rest: Partial<PlotData>,
): PlotData | undefined => {
  if (count < 2) return undefined;
  const first = Date.parse(start) / 1000;
  const times = Array.from({ length: count }, (_, index) => first + index * step);
  return { times, series, from: first, to: first + (count - 1) * step, kind: 'lines', format: String, ...rest };
};

const Processes = ({ name }: { name: string }) => {
  const resource = useResource((signal) => client.listHostProcesses({ name }, { signal }), { key: name });
  useRereading(resource, rereadEvery);
  const processes = resource.value?.data ?? [];
  if (processes.length === 0) return null;
  return (
    <section>
      <h2>{words.processes}</h2>
      <ProcessList processes={processes} label={words.processes} />
    </section>
  );
};
