import { useMemo } from 'preact/hooks';
import { client } from '../api.ts';
import { toCount, toTime } from '../format.ts';
import { useAlertList } from '../live/alert-list.ts';
import { toAlertLine, toTimeOf } from '../live/alerts.ts';
import { type Folded, fold } from '../live/fold.ts';
import { useResource } from '../live/resource.ts';
import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { ConnectLink } from '../ui/connect-link.tsx';
import { DiskList } from '../ui/disk-list.tsx';
import { Origin } from '../ui/host-name.tsx';
import { Empty, Panel, Unloaded } from '../ui/panel.tsx';
import { type ListedProcess, ProcessList } from '../ui/process-list.tsx';
import { AlertChip, toState } from '../ui/severity.tsx';
import { disks } from './history.ts';

const words = text.overview;
const shown = 8;

export const DiskPanel = () => {
  if (!disks.value) return null;
  return (
    <Panel title={words.disks}>
      <DiskList disks={disks.value} />
    </Panel>
  );
};

const loadTop = async (signal: AbortSignal): Promise<ListedProcess[]> => {
  const { data } = await client.listProcesses({ top: shown }, { signal });
  return data.map(({ name, pid, memoryMB }) => ({ name, pid, memoryBytes: memoryMB * 1024 ** 2, cpu: null }));
};

export const TopProcesses = () => {
  const { value, error, reload } = useResource(loadTop, { topic: 'top', replace: ({ data }) => data.slice(0, shown) });
  if (!isMounted('listProcesses')) return null;
  return (
    <Panel title={words.topProcesses} kind="top-processes" aside={<a href="#/processes">{words.allProcesses}</a>}>
      {!value && <Unloaded error={error} reload={reload} lines={shown} />}
      {value && <ProcessList processes={value} />}
    </Panel>
  );
};

/** Latest alerts, updated live, with repeats folded. */
export const LatestAlerts = () => {
  const list = useAlertList({}, undefined, () => false);
  const { alerts, error, seenUpTo } = list.state.value;
  const folded = useMemo(() => fold(alerts ?? []).slice(0, shown), [alerts]);
  return (
    <Panel title={words.latestAlerts} kind="latest-alerts" aside={<a href="#/alerts">{words.allAlerts}</a>}>
      {!alerts && <Unloaded error={error} reload={list.retry} lines={shown} />}
      {alerts?.length === 0 && (
        <Empty title={words.noAlerts}>
          <ConnectLink />
        </Empty>
      )}
      {alerts && alerts.length > 0 && (
        <ul class="latest">
          {folded.map(({ row, ...each }) => (
            <LatestAlert key={row} {...each} isNew={each.alert.seq > seenUpTo} />
          ))}
        </ul>
      )}
    </Panel>
  );
};

const LatestAlert = ({ alert, count, isNew }: Pick<Folded, 'alert' | 'count'> & { isNew: boolean }) => (
  <li class={`${isNew ? 'fresh' : ''} ${toState(alert) === 'resolved' ? 'over' : ''}`}>
    <time dateTime={alert.time ?? alert.timestamp}>{toTime(toTimeOf(alert))}</time>
    <AlertChip alert={alert} />
    <span class="two-line message" title={alert.message}>
      {count > 1 && (
        <span class="count" title={text.alerts.repeats(toCount(count))}>
          ×{toCount(count)}
        </span>
      )}
      {alert.id === '' ? (
        <bdi>{toAlertLine(alert)}</bdi>
      ) : (
        <a href={`#/alerts/${alert.id}`}>
          <bdi>{toAlertLine(alert)}</bdi>
        </a>
      )}
    </span>
    <span class="one-line hint from">
      <Origin source={alert.source} hostname={alert.hostname} />
    </span>
  </li>
);
