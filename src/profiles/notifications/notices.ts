import type { FastifyBaseLogger } from 'fastify';
import { type AlertSource, ownSender } from '../alert-source.ts';
import type { Notice, Progress, ReceiverMemory } from './progress.ts';

/** A destination that fails, works and fails again is reported at most this often. */
const leastMs = 60 * 60 * 1000;

export interface Notices {
  /** Whether the log lacks an alert about the receiver, or the end of one. */
  isOutdated(receiver: ReceiverMemory): boolean;
  /** Stores the alert that is missing; resolves to what is known of the receiver then, and never rejects. */
  update(name: string, progress: Pick<Progress, 'receiver'>): Promise<ReceiverMemory>;
}

interface NoticeParts {
  instance: string;
  raise: AlertSource['raise'];
  clock: () => Date;
  log: FastifyBaseLogger;
}

/** Alerts about destinations that fail, for the other destinations: one when a spell begins and one when it ends. */
export const createNotices = ({ instance, raise, clock, log }: NoticeParts): Notices => {
  const isOutdated = ({ failing, notice }: ReceiverMemory): boolean => {
    const isOpen = notice !== undefined && !notice.isResolved;
    if (!failing) return isOpen;
    const passed = clock().getTime() - (notice?.at ?? 0);
    // The clock was ahead when the notice was stored, or some time has passed.
    return !isOpen && (passed < 0 || passed >= leastMs);
  };
  const storeNext = async (name: string, { failing, notice }: ReceiverMemory): Promise<Notice | undefined> => {
    const about = { fingerprint: toFingerprint(instance, name), labels: { destination: name } };
    if (failing) {
      const message = `The destination ${name} is failing: ${failing.reason}. Its alerts wait.`;
      const { id } = await raise({ level: 'ERROR', message, status: 'firing', ...about });
      return { id, message, at: clock().getTime(), isResolved: false };
    }
    if (!notice) return undefined;
    await raise({
      ...{ level: 'INFO', message: `Resolved: ${notice.message}`, status: 'resolved', ...about },
      ...{ resolves: notice.id, firingLevel: 'ERROR' },
    });
    return { ...notice, isResolved: true };
  };
  return {
    isOutdated,
    update: async (name, progress) => {
      if (!isOutdated(progress.receiver)) return progress.receiver;
      const notice = await storeNext(name, progress.receiver).catch((err: unknown) => {
        log.warn({ err, destination: name }, 'outbox: the alert about a failing destination was not stored');
        return progress.receiver.notice;
      });
      return { ...progress.receiver, ...(notice && { notice }) };
    },
  };
};

/** Whether the record is an alert about this destination, which must not get it. */
export const isNoticeOf = ({ sender, fingerprint }: Record<string, unknown>, instance: string, name: string): boolean =>
  sender === ownSender && fingerprint === toFingerprint(instance, name);

const toFingerprint = (instance: string, name: string): string => `${instance}/destination/${name}`;
