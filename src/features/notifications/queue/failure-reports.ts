import type { FastifyBaseLogger } from 'fastify';
import { markResolved, ownSender } from '../../../kit/alert-record.ts';
import type { AlertSource } from '../../../kit/alert-source.ts';
import type { FailureAlert, HealthStore, StoredHealth } from './receiver-health.ts';

/** Minimum milliseconds between two alerts about one destination. */
const leastIntervalMs = 60 * 60 * 1000;

interface ReportParts {
  instance: string;
  raise: AlertSource['raise'];
  clock: () => Date;
  log: FastifyBaseLogger;
}

export type FailureReports = ReturnType<typeof createFailureReports>;

/**
 * Creates reports about failing destinations. The other destinations get an alert when a failure begins, and its
 * resolution when the failure ends.
 */
export const createFailureReports = ({ instance, raise, clock, log }: ReportParts) => {
  /** True if the alert about the failure, or its resolution, has not been stored yet. */
  const isOutdated = ({ failing, notice: alert }: StoredHealth): boolean => {
    const isOpen = alert !== undefined && !alert.isResolved;
    if (!failing) return isOpen;
    const passed = clock().getTime() - (alert?.at ?? 0);
    // A negative value means that the clock was ahead when the alert was stored.
    return !isOpen && (passed < 0 || passed >= leastIntervalMs);
  };
  const raiseNext = async (
    name: string,
    { failing, notice: alert }: StoredHealth,
  ): Promise<FailureAlert | undefined> => {
    const about = { fingerprint: toDestinationFingerprint(instance, name), labels: { destination: name } };
    if (failing) {
      const message = `The destination ${name} is failing: ${failing.reason}. Its alerts are waiting.`;
      const { id } = await raise({ level: 'ERROR', message, status: 'firing', ...about });
      return { id, message, at: clock().getTime(), isResolved: false };
    }
    if (!alert) return undefined;
    const ended = { resolves: alert.id, firingLevel: 'ERROR' };
    await raise({ level: 'INFO', message: markResolved(alert.message), status: 'resolved', ...about, ...ended });
    return { ...alert, isResolved: true };
  };
  return {
    isOutdated,
    /** Stores alerts that are missing, including alerts about changes made during the call. Never rejects. */
    update: async (name: string, store: HealthStore): Promise<void> => {
      while (isOutdated(store.receiver)) {
        const alert = await raiseNext(name, store.receiver).catch((err: unknown) => {
          log.warn({ err, destination: name }, 'outbox: the alert about a failing destination was not stored');
        });
        if (!alert) return;
        store.receiver = { ...store.receiver, notice: alert };
      }
    },
  };
};

/** True if the record is an alert about this destination. The destination must not receive it. */
export const isReportOf = ({ sender, fingerprint }: Record<string, unknown>, instance: string, name: string): boolean =>
  sender === ownSender && fingerprint === toDestinationFingerprint(instance, name);

/** True if an incident with this sender and subject is about this destination, on any instance. */
export const isReportAbout = (sender: string | null, about: string, name: string): boolean =>
  sender === ownSender && /^signalbox\/[0-9a-f]{16}$/.test(about.replace(toDestinationFingerprint('', name), ''));

const toDestinationFingerprint = (instance: string, name: string): string => `${instance}/destination/${name}`;
