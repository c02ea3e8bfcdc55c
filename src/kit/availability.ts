import type { Silenceable } from './silence-source.ts';

/**
 * States of a check over time. Only `up` and `down` count in a percentage. `unknown` means that the check was not
 * observed.
 */
export const checkStates = ['up', 'down', 'maintenance', 'unknown'] as const;
export type CheckState = (typeof checkStates)[number];

/** Kinds of checks. */
export type CheckKind = 'watch' | 'heartbeat' | 'host';

/** Kind and name of a check, e.g. `watch:disk`. */
export type CheckId = `${CheckKind}:${string}`;

/** Seconds in each state. */
export type StateSeconds = Record<CheckState, number>;

/** Range with its percentage. */
export interface Availability extends StateSeconds {
  /** 100 × up ÷ (up + down). Null if the check was neither up nor down. */
  percentage: number | null;
  /**
   * False if the range begins or ends within a day without exact intervals, because such a day is divided in
   * proportion. This is a day long ago, or the rest of a day with too many changes. Also false if the clock was set
   * back on a day with too many changes.
   */
  isExact: boolean;
}

/** Part of a calendar day, such as `2026-01-31`, that lies in the range and not in the future. */
interface AvailabilityDay extends Availability {
  day: string;
}

/** Period during which a check was down. Times are Unix milliseconds. */
export interface CheckOutage {
  startsAt: number;
  /** End of the outage. Null while the check is still down. */
  endsAt: number | null;
  /** Number of seconds for which the check was down. */
  seconds: number;
  /** Number of outages that this entry stands for. Greater than 1 for the rest of a day with too many changes. */
  count: number;
  /** Message of the failed check. Null if it is no longer known. */
  cause: string | null;
  /** Number of the incident. Null if unknown. */
  incident: number | null;
}

/** States of checks over time, in memory, as offered by the feature `availability`. Times are Unix milliseconds. */
export interface AvailabilitySource {
  /** Returns the current state. Undefined for a check without history. */
  find(check: CheckId): { state: CheckState; since: number } | undefined;
  /**
   * Returns the properties of a check that silences compare. Undefined for a check that is not defined, or that is not
   * known yet.
   */
  findSubject(check: CheckId): Silenceable | undefined;
  /** Lists the calendar days of a range, oldest first. Days before the first reading are unknown. */
  listDays(check: CheckId, from: number, until: number, timeZone: string): AvailabilityDay[];
  /** Returns the beginning of the calendar day `count` days before today: 89 gives the first of the last 90 days. */
  findDayBefore(count: number, timeZone: string): number;
  /** Returns the outages that overlap a range, newest first. */
  listOutages(check: CheckId, from: number, until: number): CheckOutage[];
  /** Counts the seconds in each state in a range. The future does not count. */
  measure(check: CheckId, from: number, until: number): Availability;
  /**
   * Calls the listener with each check whose state has changed, or with undefined if any check may have changed. The
   * listener must not throw.
   */
  onChanged(listener: (check: CheckId | undefined) => void): void;
  /** Records the states of a feature's checks. */
  record(source: CheckSource): void;
}

/** Check as defined in the settings. */
interface DefinedCheck {
  /** Time of creation. Distinguishes successive checks with the same name. 0 for the config file. */
  createdAt: number;
  /** Description of the check's alerts, for comparison with silences. */
  subject: Silenceable;
}

/** State of a check as observed by this instance. */
export interface CheckReading {
  /** Time at which the check was created. 0 for the config file. */
  createdAt: number;
  /** Machine or instance that is checked, or whatever else all observers of the check have in common. */
  place: string;
  state: 'up' | 'down' | 'unknown';
  /** Time at which the state began. */
  at: number;
  /** Explanation for a check that is down. */
  cause?: string;
}

/** Checks of one feature, as observed for the feature `availability`. */
export interface CheckSource {
  kind: CheckKind;
  /** Lists all defined checks. Undefined until their definitions have been read. */
  listDefined(): readonly { name: string }[] | undefined;
  find(name: string): DefinedCheck | undefined;
  /** Lists the places whose checks are currently the responsibility of this instance. */
  listPlaces(): readonly string[];
  /** Returns the reading by this instance. Undefined if there is none: the previous reading then stays valid. */
  read(name: string): CheckReading | undefined;
  /**
   * Calls the listener with the name of each check whose reading or definition has changed, or with undefined if any
   * check may have changed.
   */
  onChanged(listener: (name: string | undefined) => void): void;
}
