import type { Incident } from 'signalbox/client';
import { toCount } from '../format.ts';
import { toIncidentHash } from '../live/active-incidents.ts';
import { text } from '../strings/index.ts';

/** Link to the open incident of a watch or heartbeat, if there is one. */
export const IncidentLink = ({ incident }: { incident: Incident | undefined }) =>
  incident ? (
    <a class="incident-link" href={toIncidentHash(incident)}>
      {text.incidents.named(toCount(incident.number))}
    </a>
  ) : null;
