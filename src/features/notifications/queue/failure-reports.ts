import type { FastifyBaseLogger } from 'fastify';
import { markResolved, ownSender } from '../../../kit/alert-record.ts';
import type { AlertSource } from '../../../kit/alert-source.ts';
import type { FailureNotice, ReceiverMemory, Remembering } from './receiver.ts';

/** A destination that fails, works and fails again is reported at most this often. */
const leastNoticeMs = 60 * 60 * 1000;

interface ReportParts {
  instance: string;
  raise: AlertSource['raise'];
  clock: () => Date;
  log: FastifyBaseLogger;
}

export type FailureReports = ReturnType<typeof createFailureReports>;

/** Alerts about destinations that fail, for the other destinations: one when a spell begins and one when it ends. */
export const createFailureReports = ({ instance, raise, clock, log }: ReportParts) => {
  /** Whether the log lacks an alert about the receiver, or the end of one. */
  const isOutdated = ({ failing, notice }: ReceiverMemory): boolean => {
    const isOpen = notice !== undefined && !notice.isResolved;
    if (!failing) return isOpen;
    const passed = clock().getTime() - (notice?.at ?? 0);
    // The clock was ahead when the notice was stored, or some time has passed.
    return !isOpen && (passed < 0 || passed >= leastNoticeMs);
  };
  const raiseNext = async (name: string, { failing, notice }: ReceiverMemory): Promise<FailureNotice | undefined> => {
    const about = { fingerprint: toDestinationFingerprint(instance, name), labels: { destination: name } };
    if (failing) {
      const message = `The destination ${name} is failing: ${failing.reason}. Its alerts wait.`;
      const { id } = await raise({ level: 'ERROR', message, status: 'firing', ...about });
      return { id, message, at: clock().getTime(), isResolved: false };
    }
    if (!notice) return undefined;
    const ended = { resolves: notice.id, firingLevel: 'ERROR' };
    await raise({ level: 'INFO', message: markResolved(notice.message), status: 'resolved', ...about, ...ended });
    return { ...notice, isResolved: true };
  };
  return {
    isOutdated,
    /** Stores the alerts that are missing, also for what changes meanwhile. Never rejects. */
    update: async (name: string, memory: Remembering): Promise<void> => {
      while (isOutdated(memory.receiver)) {
        const notice = await raiseNext(name, memory.receiver).catch((err: unknown) => {
          log.warn({ err, destination: name }, 'outbox: the alert about a failing destination was not stored');
        });
        if (!notice) return;
        memory.receiver = { ...memory.receiver, notice };
      }
    },
  };
};

/** Whether the record is an alert about this destination, which must not get it. */
export const isReportOf = ({ sender, fingerprint }: Record<string, unknown>, instance: string, name: string): boolean =>
  sender === ownSender && fingerprint === toDestinationFingerprint(instance, name);

/** Whether an incident, which says who sends its alerts and what they are about, is about this destination at any instance. */
export const isReportAbout = (sender: string | null, about: string, name: string): boolean =>
  sender === ownSender && /^signalbox\/[0-9a-f]{16}$/.test(about.replace(toDestinationFingerprint('', name), ''));

const toDestinationFingerprint = (instance: string, name: string): string => `${instance}/destination/${name}`;
