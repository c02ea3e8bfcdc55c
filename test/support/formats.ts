import { assertFits } from '../../src/features/alerts/intake/body-check.ts';
import type { ForeignAlert, Format } from '../../src/features/alerts/intake/format.ts';

const now = new Date('2026-01-31T10:00:00Z');

/** Reads the alerts in a JSON body of a format, after checking the body against the schema. */
export const readAlerts = (format: Format, body: unknown): ForeignAlert[] => {
  const value = structuredClone(body);
  assertFits(format.schema, value);
  return [...format.readAlerts(value as never, now)];
};

/** Reads the only alert in a body. */
export const readAlert = (format: Format, body: unknown): ForeignAlert => {
  const [alert, ...others] = readAlerts(format, body);
  if (!alert || others.length > 0) throw new Error(`${others.length + 1} alerts`);
  return alert;
};
