import { type Concern, concernAreas } from '../feature.ts';
import { severities } from '../severity.ts';
import type { MinuteMeans } from './last-minute.ts';
import type { Status } from './schema.ts';

/** The health at one time, from everything that needs attention. */
export const toStatus = (concerns: readonly Concern[], means: MinuteMeans | undefined, time: Date): Status => {
  const problems = concerns.toSorted(
    (a, b) =>
      severities.indexOf(a.severity) - severities.indexOf(b.severity) ||
      concernAreas.indexOf(a.area) - concernAreas.indexOf(b.area),
  );
  return {
    status: problems.length === 0 ? 'ok' : 'attention',
    time: time.toISOString(),
    problems,
    host: means ? { cpu: toHundredths(means.cpu), memory: toHundredths(means.memory) } : null,
  };
};

/** Steps of a percent, so that a machine whose usage hardly changes is no news. */
const toHundredths = (share: number): number | null => (Number.isNaN(share) ? null : Math.round(share * 100) / 100);

/** True if only their times differ. */
export const isSameStatus = (a: Status, b: Status): boolean =>
  JSON.stringify({ ...a, time: '' }) === JSON.stringify({ ...b, time: '' });
