import { text } from 'node:stream/consumers';
import { requireConfigured, SettingsError } from '../../../../config/settings-error.ts';
import { HttpError } from '../../../../http/errors.ts';
import type { Tool } from '../../../../kit/feature.ts';
import { parseJson } from '../../../../lib/parse-json.ts';
import { createForeignAlert } from '../../alert.ts';
import { assertFits, takeAlerts } from '../body.ts';
import type { Format } from '../format.ts';
import { compileFormat, type IntakeSettings } from './definition.ts';

/** What would be stored of one alert. */
export interface PreviewedAlert {
  source: string;
  level: string;
  message: string;
  hostname: string;
  status: string;
  key: string | null;
  labels: Record<string, string>;
  link: string | null;
}

/** The alerts that a body would be stored as. Throws an HttpError for one that would be refused. */
export const previewAlerts = (format: Format, body: unknown, now: Date): PreviewedAlert[] => {
  assertFits(format.schema, body);
  return takeAlerts(format.readAlerts(body as never, now)).map((alert) => {
    const record = createForeignAlert(format.name, alert, { now, sender: 'test' }, {});
    const { source, level, message, hostname, status = 'firing', fingerprint, labels = {}, link } = record;
    return { source, level, message, hostname, status, key: fingerprint ?? null, labels, link: link ?? null };
  });
};

/** `signalbox test-intake NAME < body.json`: prints what would be stored, and stores nothing. */
export const testIntake: Tool = {
  name: 'test-intake',
  argument: { name: 'NAME' },
  summary: 'read a body from standard input and print the alerts that a format of the config file makes of it',
  run: async (name, readSettings) => {
    const configured = readSettings()['intake'] as IntakeSettings['intake'];
    const { name: _, ...definition } = requireConfigured(configured, 'intake format', name);
    const format = compileFormat(name, definition);
    const body = parse(await text(process.stdin));
    try {
      const alerts = previewAlerts(format, body, new Date());
      return { output: JSON.stringify(alerts, undefined, 2), ok: true };
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return { output: `refused: ${error.message}`, ok: false };
    }
  },
};

const parse = (body: string): unknown => {
  const value = parseJson(body);
  if (value !== undefined) return value;
  throw new SettingsError(['standard input must be JSON: the body that the sender sends']);
};
