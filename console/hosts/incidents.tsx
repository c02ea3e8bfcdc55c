import type { Host } from 'signalbox/client';
import { useActiveIncidents } from '../live/active-incidents.ts';
import { listNames } from '../live/hosts.ts';
import { compareUrgency } from '../live/incidents.ts';
import { toHash } from '../router.ts';
import { hostTexts as words } from '../strings/hosts.ts';
import { SeverityChip } from '../ui/severity.tsx';
import { Ago } from '../ui/time.tsx';

/** Open and acknowledged incidents with alerts from a host, most urgent first. */
export const HostIncidents = ({ host }: { host: Host }) => {
  const { value } = useActiveIncidents();
  const names = new Set(listNames(host));
  const own = (value ?? []).filter(({ hostname }) => names.has(hostname.toLowerCase())).toSorted(compareUrgency);
  if (own.length === 0) return null;
  return (
    <section>
      <h2>{words.incidents}</h2>
      <ul class="names">
        {own.map(({ id, number, firstAt, level, title }) => (
          <li key={id}>
            <SeverityChip severity={level} />{' '}
            <a href={toHash(`/incidents/${number}`)}>
              <bdi>{title}</bdi>
            </a>{' '}
            <span class="hint">
              <Ago time={firstAt} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
};
