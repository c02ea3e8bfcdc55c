import { hostname } from 'node:os';
import { ownSender } from '../../kit/alert-record.ts';
import type { AlertSource } from '../../kit/alert-source.ts';
import type { Storage } from '../../storage/storage.ts';
import { createAlert } from './alert.ts';
import type { AlertMeters } from './intake/meters.ts';
import type { AlertLog } from './log/alert-log.ts';
import { readInstanceId } from './log/instance-id.ts';

interface SourceParts extends Pick<AlertSource, 'shareOrigin' | 'quietMsOf'> {
  alertLog: AlertLog;
  counts: Pick<AlertMeters, 'addReceived' | 'countReceived'>;
  storage: Storage;
  clock: () => Date;
}

/** Creates the source of alerts for other features. */
export const createAlertSource = ({ alertLog, counts, storage, clock, ...others }: SourceParts): AlertSource => {
  const { journal, events, own, isOwn, store, firing, whenRead } = alertLog;
  return {
    ...others,
    journal,
    events,
    isOwn,
    own,
    readInstance: () => readInstanceId(storage),
    countReceived: counts.countReceived,
    raise: async ({ level, message, source = ownSender, hostname: host = hostname(), ...details }) => {
      const record = createAlert({ source, level, message, hostname: host }, { now: clock(), sender: ownSender });
      const stored = await store.append({ ...record, ...details });
      counts.addReceived(details.format ?? 'native', level);
      return stored;
    },
    listRaised: async (format) => {
      await whenRead();
      return firing.state.listSeries(ownSender, format);
    },
  };
};
