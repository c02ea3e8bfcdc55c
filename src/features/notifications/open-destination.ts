import type { AlertSource } from '../../kit/alert-source.ts';
import type { Parts } from '../../kit/feature.ts';
import type { Reach } from '../../kit/reach.ts';
import type { SilenceSource } from '../../kit/silence-source.ts';
import type { Storage } from '../../storage/storage.ts';
import { type DestinationDefinition, toLinkedDestination } from './destinations/definition.ts';
import { openTransport } from './destinations/transport.ts';
import { createAlertFilter } from './forwarder/filter.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { openProgress } from './forwarder/progress-file.ts';
import { createAlertFinder } from './message/find-alert.ts';
import { createMessageWriter, type MessageLinks } from './message/message-writer.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import type { IncidentDestinations } from './plan/incident-destinations.ts';
import type { Notifier } from './plan/notifier.ts';
import type { Delivered } from './queue/destination.ts';
import { createFailureReports } from './queue/failure-reports.ts';
import { mostRequests } from './queue/queue.ts';

/** Destination for alerts or incidents. */
export type AnyDestination = Forwarder | IncidentDestination;

export interface OpenerParts extends Pick<Parts, 'clock' | 'log'> {
  storage: Pick<Storage, 'log' | 'file'>;
  links: MessageLinks;
  /** Addresses that destinations from the runtime settings may reach. */
  reach: Reach;
  silences: Pick<SilenceSource, 'silencesOf'>;
  notifier: Notifier;
  /** Destinations of incidents for which the notifier plans. */
  incidentDestinations: IncidentDestinations;
}

/** Creates a function that opens a destination, and a function that resolves the alert about a removed destination. */
export const createOpener = (
  source: AlertSource,
  { storage, clock, log, silences, links, reach, notifier }: Omit<OpenerParts, 'incidentDestinations'>,
  onDelivered: (delivered: Delivered) => void,
) => {
  let known: string | undefined;
  const findAlert = createAlertFinder(source.journal);
  const prepare = async () => {
    known ??= await source.readInstance();
    const origin = source.shareOrigin() ?? known;
    return {
      instance: known,
      origin,
      reports: createFailureReports({ instance: known, raise: source.raise, clock, log }),
    };
  };
  return {
    open: async (definition: DestinationDefinition, stored: number): Promise<AnyDestination> => {
      const { instance, origin, reports } = await prepare();
      const {
        name,
        notify = 'alerts',
        concurrency = notify === 'alerts' ? 1 : mostRequests,
        startAt,
      } = definition.settings;
      const { createdAt: madeAt } = definition;
      const start = startAt === 'oldest' ? 0 : stored;
      const kept = await openProgress(name, { storage, log, start, stored });
      // An extra connection for alerts that an administrator resends.
      const transport = await openTransport(definition, mostRequests + 1, clock, reach);
      const isOfIncidents = notify === 'incidents';
      // The progress may belong to a removed destination with the same name.
      if (![undefined, madeAt].includes(kept.progress.madeAt)) kept.progress.restart(start);
      // While a destination gets incidents, it does not get alerts.
      if (isOfIncidents || kept.progress.isOfIncidents) kept.progress.skipTo(stored);
      const isChanged = isOfIncidents !== kept.progress.isOfIncidents || madeAt !== kept.progress.madeAt;
      Object.assign(kept.progress, { isOfIncidents, madeAt });
      if (isChanged) await kept.write();
      const maxRequests = isOfIncidents ? concurrency : mostRequests;
      const parts = { definition, kept, transport, concurrency, maxRequests, reports, clock, log, onDelivered };
      if (isOfIncidents) {
        const destination = toLinkedDestination(
          definition.settings,
          definition.isRuntimeSetting || definition.way ? madeAt : null,
        );
        const writeMessage = createMessageWriter({ destination, instance, origin, links, findAlert });
        return new IncidentDestination({ ...parts, notifier, writeMessage });
      }
      const accepts = createAlertFilter(definition.settings, instance, silences);
      return new Forwarder({ ...parts, instance, origin, accepts, alerts: source.own, findAlert });
    },
    /** Resolves the alert about a removed destination. Resolves to false if the resolution could not be stored. */
    retire: async (name: string, start: number): Promise<boolean> => {
      const { reports } = await prepare();
      const stored = Number.POSITIVE_INFINITY;
      const { progress, close } = await openProgress(name, { storage, log, start, stored });
      const { failing: _, ...receiver } = progress.receiver;
      progress.receiver = receiver;
      await reports.update(name, progress);
      await close();
      return !reports.isOutdated(progress.receiver);
    },
  };
};
