import { text } from 'node:stream/consumers';
import { requireConfigured, SettingsError } from '../../../../config/settings-error.ts';
import { HttpError } from '../../../../http/errors.ts';
import type { Tool } from '../../../../kit/feature.ts';
import { parseJson } from '../../../../lib/parse-json.ts';
import { createForeignAlert } from '../../alert.ts';
import { collectAlerts } from '../body.ts';
import { assertFits } from '../body-check.ts';
import type { Format } from '../format.ts';
import { compileFormat } from './compile.ts';
import type { IntakeSettings } from './definition.ts';

/** Alert as it would be stored. */
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

/** Returns the alerts in a body as they would be stored. Throws an HttpError if the body would be rejected. */
export const previewAlerts = (format: Format, body: unknown, now: Date): PreviewedAlert[] => {
  assertFits(format.schema, body);
  return collectAlerts(format.readAlerts(body as never, now)).map((alert) => {
    const record = createForeignAlert(format.name, alert, { now, sender: 'test' }, {});
    const { source, level, message, hostname, status = 'firing', fingerprint, labels = {}, link } = record;
    return { source, level, message, hostname, status, key: fingerprint ?? null, labels, link: link ?? null };
  });
};

/** `signalbox test-intake NAME < body.json`: prints alerts as they would be stored, without storing them. */
export const testIntake: Tool = {
  name: 'test-intake',
  argument: { name: 'NAME' },
  summary: 'map a body from standard input with an intake format of the config file, and print the alerts',
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
  throw new SettingsError(['standard input must be a request body of the sender, in JSON']);
};
