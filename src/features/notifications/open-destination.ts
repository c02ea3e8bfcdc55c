import type { AlertSource } from '../../kit/alert-source.ts';
import type { Parts } from '../../kit/feature.ts';
import type { SilenceSource } from '../../kit/silence-source.ts';
import type { Targets } from '../../kit/targets.ts';
import type { Storage } from '../../storage/storage.ts';
import { openSender } from './destinations/sender.ts';
import { type DestinationTarget, toLinkedDestination } from './destinations/target.ts';
import { createAlertFilter } from './forwarder/filter.ts';
import { Forwarder } from './forwarder/forwarder.ts';
import { openProgress } from './forwarder/progress-file.ts';
import { createAlertFinder } from './message/find-alert.ts';
import { createMessageSender, type MessageLinks } from './message/message-sender.ts';
import { IncidentDestination } from './plan/incident-destination.ts';
import type { Delivered } from './queue/destination.ts';
import { createFailureReports } from './queue/failure-reports.ts';
import { mostRequests } from './queue/queue.ts';

/** A destination of alerts or of incidents. */
export type AnyDestination = Forwarder | IncidentDestination;

export interface OpenerParts extends Pick<Parts, 'clock' | 'log'> {
  storage: Pick<Storage, 'log' | 'file'>;
  links: MessageLinks;
  /** Addresses that destinations created at run time may reach. */
  targets: Targets;
  silences: SilenceSource | undefined;
}

/** Opens destinations, and ends the alert about one that was removed; what they need is loaded with the first one. */
export const createOpener = (
  source: AlertSource,
  { storage, clock, log, silences, links, targets }: OpenerParts,
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
    open: async (target: DestinationTarget, stored: number): Promise<AnyDestination> => {
      const { instance, origin, reports } = await prepare();
      const {
        name,
        notify = 'alerts',
        concurrency = notify === 'alerts' ? 1 : mostRequests,
        startAt,
      } = target.settings;
      const { madeAt } = target;
      const start = startAt === 'oldest' ? 0 : stored;
      const kept = await openProgress(name, { storage, log, start, stored });
      // One connection more, for alerts that an administrator sends again.
      const sender = await openSender(target, mostRequests + 1, clock, targets);
      const isOfIncidents = notify === 'incidents';
      // Another one had the name: what was for that one, and what came since, is not for this one.
      if (![undefined, madeAt].includes(kept.progress.madeAt)) kept.progress.restart(start);
      // If it gets alerts again, those are the ones that come then.
      if (isOfIncidents || kept.progress.isOfIncidents) kept.progress.skipTo(stored);
      const isChanged = isOfIncidents !== kept.progress.isOfIncidents || madeAt !== kept.progress.madeAt;
      Object.assign(kept.progress, { isOfIncidents, madeAt });
      if (isChanged) await kept.write();
      const maxRequests = isOfIncidents ? concurrency : mostRequests;
      const parts = { target, kept, concurrency, maxRequests, reports, clock, log, onDelivered };
      if (isOfIncidents) {
        const messages = createMessageSender({
          destination: toLinkedDestination(target.settings, target.isMade ? madeAt : null),
          instance,
          origin,
          sender,
          links,
          findAlert,
        });
        return new IncidentDestination({ ...parts, sender: messages });
      }
      const accepts = createAlertFilter(target.settings, instance, silences);
      return new Forwarder({ ...parts, instance, origin, accepts, alerts: source.own, findAlert, sender });
    },
    /** Resolves to whether no alert about the destination fires. */
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
