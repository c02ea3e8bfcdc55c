import { useRef } from 'preact/hooks';
import { send } from '../api.ts';
import { type AlertEntry, listAlerts, readAlerts, toLine, toTimeOf } from '../calls/alerts.ts';
import { type Disk, listDisks, listProcesses } from '../calls/host.ts';
import { toBytes, toDecimal, toDuration, toPercent, toTime } from '../format.ts';
import { useResource } from '../live/resource.ts';
import { isMounted } from '../mounts.ts';
import { text } from '../strings/index.ts';
import { LevelChip } from '../ui/level.tsx';
import { Failure, Panel, Skeleton } from '../ui/panel.tsx';

const words = text.overview;
const GiB = 1024 ** 3;
const shown = 8;

export const Disks = () => {
  const { value, error, reload } = useResource((signal) => send(listDisks, { signal }), {
    topic: 'host',
    calm: 15_000,
  });
  if (!isMounted(listDisks)) return null;
  return (
    <Panel title={words.disks}>
      {error && !value && <Failure error={error} onRetry={reload} />}
      {!error && !value && <Skeleton lines={2} />}
      <ul class="disks">
        {value?.data.map((disk) => (
          <DiskBar key={disk.drive} disk={disk} />
        ))}
      </ul>
    </Panel>
  );
};

const DiskBar = ({ disk: { drive, totalGB, freeGB, usagePct } }: { disk: Disk }) => (
  <li>
    <span class="mono one-line">{drive}</span>
    <span class="hint">{words.diskFree(toBytes(freeGB * GiB), toBytes(totalGB * GiB))}</span>
    <meter
      min="0"
      max="100"
      high={90}
      value={usagePct}
      aria-label={`${drive}: ${words.diskFull(toPercent(usagePct))}`}
    />
    <b>{toPercent(usagePct)}</b>
  </li>
);

export const TopProcesses = () => {
  const load = (signal: AbortSignal) => send(listProcesses, { query: { top: shown }, signal });
  const { value, error, reload } = useResource(load, { topic: 'host', calm: 4000 });
  if (!isMounted(listProcesses)) return null;
  return (
    <Panel title={words.topProcesses} kind="top-processes" aside={<a href="#/processes">{words.allProcesses}</a>}>
      {error && !value && <Failure error={error} onRetry={reload} />}
      {!error && !value && <Skeleton lines={shown} />}
      {value && (
        <table class="plain">
          <thead>
            <tr>
              <th scope="col">{words.process}</th>
              <th scope="col" class="end pid">
                {words.pid}
              </th>
              <th scope="col" class="end reading-column">
                {words.memoryColumn}
              </th>
              <th scope="col" class="end reading-column">
                {words.cpuTime}
              </th>
            </tr>
          </thead>
          <tbody>
            {value.data.map(({ name, pid, memoryMB, cpu }) => (
              <tr key={pid}>
                <td title={name}>
                  <bdi>{name}</bdi>
                </td>
                <td class="end">{pid}</td>
                <td class="end">{toBytes(memoryMB * 1024 ** 2)}</td>
                <td class="end">{cpu === null ? '–' : cpu < 60 ? `${toDecimal(cpu)} s` : toDuration(cpu)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
};

export const LatestAlerts = () => {
  const load = (signal: AbortSignal) => readAlerts({}, { limit: shown, signal });
  const { value, error, reload } = useResource(load, { topic: 'alerts', calm: 100 });
  const seen = useRef(Number.POSITIVE_INFINITY);
  if (!isMounted(listAlerts)) return null;
  const alerts = value?.data.slice(0, shown) ?? [];
  const known = seen.current;
  seen.current = alerts[0]?.seq ?? known;
  return (
    <Panel title={words.latestAlerts} kind="latest-alerts" aside={<a href="#/alerts">{words.allAlerts}</a>}>
      {error && !value && <Failure error={error} onRetry={reload} />}
      {!error && !value && <Skeleton lines={shown} />}
      {value && alerts.length === 0 && <p class="hint">{words.noAlerts}</p>}
      <ul class="latest">
        {alerts.map((alert) => (
          <LatestAlert key={alert.seq} alert={alert} isNew={alert.seq > known} />
        ))}
      </ul>
    </Panel>
  );
};

const LatestAlert = ({ alert, isNew }: { alert: AlertEntry; isNew: boolean }) => (
  <li class={isNew ? 'fresh' : ''}>
    <time dateTime={alert.time ?? alert.timestamp}>{toTime(toTimeOf(alert))}</time>
    <LevelChip level={alert.level} />
    <span class="one-line message" title={alert.message}>
      {alert.id === '' ? (
        <bdi>{toLine(alert)}</bdi>
      ) : (
        <a href={`#/alerts/${alert.id}`}>
          <bdi>{toLine(alert)}</bdi>
        </a>
      )}
    </span>
    <span class="one-line hint from">
      <bdi>{[alert.source, alert.hostname].filter(Boolean).join(' · ')}</bdi>
    </span>
  </li>
);
