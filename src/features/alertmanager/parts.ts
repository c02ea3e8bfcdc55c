import { needs, openFor } from '../../auth/access.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import type { SilenceStore } from '../../kit/silence-source.ts';

export interface AlertmanagerParts {
  incidents: IncidentSource;
  silences: SilenceStore;
  clock: () => Date;
}

/** Access rule for routes that read. */
export const alertmanagerReading = openFor('incidents:read');

/** Access rule for routes that change silences. */
export const alertmanagerChanging = needs('incidents:write');

/** The only receiver that clients see. Destinations stay hidden. */
export const alertmanagerReceiver = { name: 'signalbox' };
