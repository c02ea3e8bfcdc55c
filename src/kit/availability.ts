import type { Silenceable } from './silence-source.ts';

/** States of a check over time. Only `up` and `down` count in a percentage; `unknown`: not observed. */
export const checkStates = ['up', 'down', 'maintenance', 'unknown'] as const;
export type CheckState = (typeof checkStates)[number];

/** Kinds of checks. */
export type CheckKind = 'watch' | 'heartbeat' | 'host';

/** Kind and name of a check: `watch:disk`. */
export type CheckId = `${CheckKind}:${string}`;

/** Seconds in each state. */
export type StateSeconds = Record<CheckState, number>;

/** A range with its percentage. */
export interface Availability extends StateSeconds {
  /** 100 × up ÷ (up + down); null if the check was neither up nor down. */
  percentage: number | null;
  /**
   * False if a border of the range cuts a day without exact intervals: a day long ago, or the rest of a day with too
   * many changes. Such a day is divided in proportion. False, too, if the clock was set back on a day with too many
   * changes.
   */
  isExact: boolean;
}

/** A calendar day, such as `2026-01-31`, as far as it is in the range and not in the future. */
interface AvailabilityDay extends Availability {
  day: string;
}

/** Period in which a check was down. Times are Unix milliseconds. */
export interface CheckOutage {
  startsAt: number;
  /** Null while the check is down. */
  endsAt: number | null;
  /** Seconds down. */
  seconds: number;
  /** Number of outages in this entry: more than 1 for the rest of a day with too many changes. */
  count: number;
  /** Message of the failed check; null if no longer known. */
  cause: string | null;
  /** Number of the incident; null if unknown. */
  incident: number | null;
}

/** Source of the feature `availability`: states of checks over time, in memory. Times are Unix milliseconds. */
export interface AvailabilitySource {
  /** Returns the current state; undefined for a check without history. */
  find(check: CheckId): { state: CheckState; since: number } | undefined;
  /** Lists the calendar days of a range, oldest first; a day before the first reading is unknown. */
  listDays(check: CheckId, from: number, until: number, timeZone: string): AvailabilityDay[];
  /** Returns when the calendar day `count` days before today began; 89 is the first of 90 days. */
  findDayBefore(count: number, timeZone: string): number;
  /** Returns the outages that overlap a range, newest first. */
  listOutages(check: CheckId, from: number, until: number): CheckOutage[];
  /** Counts the seconds of each state in a range; the future counts in no state. */
  measure(check: CheckId, from: number, until: number): Availability;
  /** Calls the listener, which must not throw, with each check whose state changed; undefined for all. */
  onChanged(listener: (check: CheckId | undefined) => void): void;
  /** Records the states of a feature's checks. */
  record(source: CheckSource): void;
}

/** Check as defined in the settings. */
interface DefinedCheck {
  /** Creation time, which tells successive checks of one name apart; 0 for the config file. */
  createdAt: number;
  /** Describes the check's alerts, for silences. */
  subject: Silenceable;
}

/** State of a check as observed by this instance. */
export interface CheckReading {
  /** Creation time of the check; 0 for the config file. */
  createdAt: number;
  /** Machine or instance that is checked, or what else the observers of the check share. */
  place: string;
  state: 'up' | 'down' | 'unknown';
  /** Time of the state's beginning. */
  at: number;
  /** Words about a check that is down. */
  cause?: string;
}

/** Checks of one feature, for the feature `availability`. */
export interface CheckSource {
  kind: CheckKind;
  /** Lists all defined checks; undefined until their definitions have been read. */
  listDefined(): readonly { name: string }[] | undefined;
  find(name: string): DefinedCheck | undefined;
  /** Lists the places for whose checks this instance is responsible now. */
  listPlaces(): readonly string[];
  /** Returns this instance's reading; undefined if it has none, so that the last one remains. */
  read(name: string): CheckReading | undefined;
  /** Calls the listener with the name of each check whose reading or definition changed; undefined for all. */
  onChanged(listener: (name: string | undefined) => void): void;
}
