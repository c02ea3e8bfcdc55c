import Type, { type Static } from 'typebox';
import type { LogRecord } from '../../../storage/journal/line.ts';
import { RecentEntries } from '../../../storage/recent-entries.ts';

/** First alert with a given key. Times are Unix milliseconds. */
export const FirstAlert = Type.Object({
  /** Later alerts with this state are repeats. */
  state: Type.String(),
  id: Type.String(),
  storedAt: Type.Number(),
  /** Time of the last reminder. */
  remindedAt: Type.Optional(Type.Number()),
});
export type FirstAlert = Static<typeof FirstAlert>;

/** First alerts of the last 24 hours, by key. An alert with the same key and state is a repeat. */
export class FirstAlerts extends RecentEntries<FirstAlert> {
  /** Adds the key of a log record, if the record has a key. */
  fold({ id, time, key, bodyHash, repeatOf }: LogRecord): void {
    const { hash, state } = splitRepeatId(typeof key === 'string' ? key : '');
    if (hash === '') return;
    const storedAt = Date.parse(String(time));
    if (Number.isNaN(storedAt)) return;
    if (typeof repeatOf === 'string') {
      const first = this.find(hash) ?? { state, id: repeatOf, storedAt };
      this.remember(hash, { ...first, remindedAt: storedAt });
      return;
    }
    this.remember(hash, { state: typeof bodyHash === 'string' ? bodyHash : state, id: String(id), storedAt });
  }
}

/** Splits the `key` of a record, `HASH:STATE`. Both parts are empty without a key. */
export const splitRepeatId = (key = ''): { hash: string; state: string } => {
  const end = key.indexOf(':');
  return end < 0 ? { hash: key, state: '' } : { hash: key.slice(0, end), state: key.slice(end + 1) };
};
