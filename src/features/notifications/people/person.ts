import type { Severity } from '../../../kit/severity.ts';
import { findSeverity, severities } from '../../../kit/severity.ts';
import { findTimeZone, readOwnTimeZone } from '../../../lib/time-zone.ts';
import { parseHours } from '../oncall/hours.ts';
import type { UsableHours } from '../plan/plan.ts';

/** Stored form of a person's settings. */
export interface StoredPerson {
  timeZone?: string | undefined;
  quietHours?: string | undefined;
  quietExcept?: readonly string[] | undefined;
}

const defaultExcept = ['CRITICAL'];

/** Times at which a person is not to be notified. */
export interface Quiet {
  /** Hours outside the quiet hours. Undefined without quiet hours. */
  hours: UsableHours | undefined;
  /** Severities that notify the person even during quiet hours. */
  except: ReadonlySet<Severity>;
}

/** Compiles the settings of a person. Throws an Error that explains the problem. */
export const compileQuiet = ({ timeZone, quietHours, quietExcept = defaultExcept }: StoredPerson): Quiet => {
  const zone = timeZone === undefined ? readOwnTimeZone() : findTimeZone(timeZone);
  if (zone === undefined) throw new Error(`timeZone must be a name such as Europe/Berlin, not ${timeZone}`);
  const except = quietExcept.map((level) => {
    const severity = findSeverity(level);
    if (severity === undefined)
      throw new Error(`quietExcept: ${JSON.stringify(level)} is not a severity; use ${severities.join(', ')}`);
    return severity;
  });
  const hours = quietHours === undefined ? undefined : parseHours(quietHours, zone).toOutside();
  if (quietHours !== undefined && !hours) throw new Error('quietHours must not cover the whole week');
  return { hours, except: new Set(except) };
};
