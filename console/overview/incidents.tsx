import { useMemo } from 'preact/hooks';
import type { Incident } from 'signalbox/client';
import { toPerson } from '../../src/kit/people.ts';
import { toCount, toFull } from '../format.ts';
import { compareUrgency, openIncidents } from '../live/incidents.ts';
import { text } from '../strings/index.ts';
import { Origin } from '../ui/host-name.tsx';
import { Panel, Unloaded } from '../ui/panel.tsx';
import { SeverityChip } from '../ui/severity.tsx';
import { Ago } from '../ui/time.tsx';

const words = text.incidents;
const shown = 5;

/**
 * Open incidents, then acknowledged incidents. Both are sorted worst first, then oldest first. If there are none, shows
 * the time since the last incident.
 */
export const OpenIncidentsPanel = () => {
  const { value, error, reload } = openIncidents.value;
  const worst = useMemo(() => {
    const active = value ? [...value.data, ...value.acknowledged] : [];
    return active.toSorted(compareUrgency).slice(0, shown);
  }, [value]);
  const title = value && value.total > 0 ? `${words.openIncidents} (${toCount(value.total)})` : words.openIncidents;
  return (
    <Panel title={title} kind="open-incidents" aside={<a href="#/incidents">{words.allIncidents}</a>}>
      {!value && <Unloaded error={error} reload={reload} lines={1} />}
      {value?.total === 0 && (
        <p class="hint">
          {words.quiet}.{' '}
          {value.acknowledgedTotal > 0
            ? words.allAcknowledged(toCount(value.acknowledgedTotal))
            : value.quietSince && words.quietSince(toFull(new Date(value.quietSince)))}
        </p>
      )}
      {worst.length > 0 && (
        <ul class="latest now">
          {worst.map((incident) => (
            <ActiveIncident key={incident.id} incident={incident} />
          ))}
        </ul>
      )}
    </Panel>
  );
};

const ActiveIncident = ({ incident }: { incident: Incident }) => {
  const { number, title, level, firstAt, count, source, hostname, acknowledgedBy } = incident;
  return (
    <li>
      <Ago time={firstAt} />
      <SeverityChip severity={level} />
      <span class="two-line message" title={title}>
        {count > 1 && <span class="count">×{toCount(count)}</span>}
        <a href={`#/incidents/${number}`}>
          <bdi>{title}</bdi>
        </a>
      </span>
      <span class="one-line hint from">
        {acknowledgedBy === null ? (
          <Origin source={source} hostname={hostname} />
        ) : (
          <bdi>{words.acknowledgedBy(toPerson(acknowledgedBy))}</bdi>
        )}
      </span>
    </li>
  );
};
