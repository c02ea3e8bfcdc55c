import {
  type Availability,
  type AvailabilitySource,
  type CheckId,
  type CheckKind,
  type CheckSource,
  type CheckState,
  checkStates,
  type StateSeconds,
} from '../../kit/availability.ts';
import { findDayBefore, listLocalDays } from './days.ts';
import type { AvailabilityStore } from './store.ts';
import { Timeline } from './timeline.ts';

/** History of a check without readings. */
const empty = new Timeline();

/** Creates the source of availability. It answers from memory. */
export const createAvailabilitySource = (
  store: AvailabilityStore,
  clock: () => Date,
  { record, findChecks }: Pick<AvailabilitySource, 'record'> & { findChecks(kind: CheckKind): CheckSource | undefined },
): AvailabilitySource => {
  const timelineOf = (check: CheckId): Timeline => store.find(check)?.timeline ?? empty;
  const toSecond = (ms: number): number => Math.floor(ms / 1000);
  /** Returns the range in seconds, ending at the latest now. */
  const toRange = (from: number, until: number): [number, number] => {
    const end = toSecond(Math.min(until, clock().getTime()));
    return [Math.min(toSecond(from), end), end];
  };
  const measure = (check: CheckId, from: number, until: number): Availability => {
    const { seconds, isExact } = timelineOf(check).count(...toRange(from, until));
    const states = Object.fromEntries(checkStates.map((state, code) => [state, seconds[code] ?? 0])) as StateSeconds;
    return { ...states, percentage: toPercentage(states), isExact };
  };
  const listDays: AvailabilitySource['listDays'] = (check, from, until, timeZone) =>
    listLocalDays(from, until, timeZone).map((day) => ({ day: day.day, ...measure(check, day.from, day.until) }));
  return {
    find: (check) => {
      const history = store.find(check);
      return history && { state: history.timeline.state, since: 1000 * history.timeline.since };
    },
    findSubject: (check) => {
      const kind = check.slice(0, check.indexOf(':')) as CheckKind;
      return findChecks(kind)?.find(check.slice(kind.length + 1))?.subject;
    },
    listDays,
    findDayBefore: (count, timeZone) => findDayBefore(clock().getTime(), count, timeZone),
    listOutages: (check, from, until) =>
      timelineOf(check)
        .listOutages(...toRange(from, until))
        .map(({ start, end, seconds, count, cause, incident }) => {
          return {
            startsAt: 1000 * start,
            endsAt: end === undefined ? null : 1000 * end,
            seconds,
            count,
            cause,
            incident,
          };
        })
        .reverse(),
    measure,
    onChanged: (listener) => store.onChanged((check) => listener(check === 'all' ? undefined : check)),
    record,
  };
};

/** Factor for rounding a percentage to its decimal places. */
const scale = 10_000;

/** Computes a percentage. Rounds down, so that a check with an outage never gets 100 %. */
const toPercentage = ({ up, down }: Pick<Record<CheckState, number>, 'up' | 'down'>): number | null =>
  up + down === 0 ? null : Math.floor((100 * scale * up) / (up + down)) / scale;
