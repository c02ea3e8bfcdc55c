import Type, { type Static } from 'typebox';
import type { LogRecord } from '../../../storage/journal/line.ts';
import { RecentKeys } from '../../../storage/recent-keys.ts';

/** The first alert with a key. Times are Unix milliseconds. */
export const FirstAlert = Type.Object({
  /** By which those after it are its repeats. */
  state: Type.String(),
  id: Type.String(),
  storedAt: Type.Number(),
  /** When it was last stored again, as a reminder. */
  remindedAt: Type.Optional(Type.Number()),
});
export type FirstAlert = Static<typeof FirstAlert>;

/** The first alerts of the last 24 hours by their keys: alerts with the same key and state repeat them. */
export class RepeatKeys extends RecentKeys<FirstAlert> {
  /** Takes over the key of a record of the log, if it has one. */
  fold({ id, time, key, bodyHash, repeatOf }: LogRecord): void {
    const { hash, state } = splitKey(typeof key === 'string' ? key : '');
    const storedAt = Date.parse(String(time));
    if (hash === '' || Number.isNaN(storedAt)) return;
    if (typeof repeatOf === 'string') {
      const first = this.find(hash) ?? { state, id: repeatOf, storedAt };
      this.remember(hash, { ...first, remindedAt: storedAt });
      return;
    }
    this.remember(hash, { state: typeof bodyHash === 'string' ? bodyHash : state, id: String(id), storedAt });
  }
}

/** The parts of a record's `key`, which is `HASH:STATE`; both are empty if it has none. */
export const splitKey = (key = ''): { hash: string; state: string } => {
  const end = key.indexOf(':');
  return end < 0 ? { hash: key, state: '' } : { hash: key.slice(0, end), state: key.slice(end + 1) };
};
