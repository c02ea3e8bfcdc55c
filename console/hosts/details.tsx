import type { Host } from 'signalbox/client';
import { client } from '../api.ts';
import { toDuration, toFull, toMinute } from '../format.ts';
import { useRereading } from '../live/rereading.ts';
import { useResource } from '../live/resource.ts';
import { goTo } from '../router.ts';
import { isReadable } from '../routes.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { text } from '../strings/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DiskList } from '../ui/disk-list.tsx';
import { Facts } from '../ui/facts.tsx';
import { HostChip } from '../ui/host-looks.tsx';
import { Empty } from '../ui/panel.tsx';
import { ProcessList } from '../ui/process-list.tsx';
import { ThingLinks } from '../ui/thing-links.tsx';
import { Since } from '../ui/time.tsx';
import { HostActions } from './actions.tsx';
import { HostHeartbeats } from './heartbeats.tsx';
import { HistoryCharts, hostRereadMs } from './history.tsx';
import { HostIncidents } from './incidents.tsx';
import { readListParams } from './rows.tsx';
import { HostWatches } from './watches.tsx';

interface Props {
  name: string;
  /** Host with this name. Undefined if there is none. */
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
      {clockSkewSeconds !== null && (
        <p class="note">{words.skew(toDuration(Math.abs(clockSkewSeconds)), clockSkewSeconds > 0)}</p>
      )}
      {duplicates.length > 0 && (
        <p class="note">{words.duplicates(duplicates.map(({ hostname }) => hostname).join(', '))}</p>
      )}
      <div class="actions">
        <HostActions host={host} onChanged={onChanged} />
      </div>
      <HostIncidents host={host} />
      <HistoryCharts name={name} />
      {readings?.disks && readings.disks.length > 0 && (
        <section>
          <h2>{words.disks}</h2>
          <DiskList disks={readings.disks} />
        </section>
      )}
      {isReadable('listWatches') && <HostWatches host={host} />}
      {host.heartbeatCount > 0 && <HostHeartbeats name={name} />}
      {isReadable('listHostProcesses') && <Processes name={name} />}
      <Facts
        facts={[
          [words.facts.tags, host.tags.length > 0 && host.tags.join(', ')],
          [words.facts.note, host.note !== '' && host.note],
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

const Processes = ({ name }: { name: string }) => {
  const resource = useResource((signal) => client.listHostProcesses({ name }, { signal }), { key: name });
  useRereading(resource, hostRereadMs);
  const processes = resource.value?.data ?? [];
  if (processes.length === 0) return null;
  return (
    <section>
      <h2>{words.processes}</h2>
      <ProcessList processes={processes} label={words.processes} />
    </section>
  );
};
