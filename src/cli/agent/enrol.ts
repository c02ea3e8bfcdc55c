import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SettingsError } from '../../config/settings-error.ts';
import { HubClient } from '../../features/reports/hub-client.ts';
import { type HubSetting, parseHubUrl } from '../../kit/hub.ts';
import { minuteMs } from '../../lib/units.ts';
import { replaceFile } from '../../storage/replaced-file.ts';
import { temporaryFailure } from '../remote/server.ts';
import { say } from '../stdio.ts';

/** Milliseconds for which enrolment is retried while the hub is unreachable, and milliseconds between two attempts. */
const codeMs = 30 * minuteMs;
const retryMs = 5000;

/**
 * Exchanges a code for a key and writes the key to a file. Retries while the hub is unreachable. If enrolment fails,
 * resolves to an exit code. If the hub refuses the code, throws a SettingsError unless an earlier start has stored a
 * key.
 */
export const enrol = async (hub: HubSetting, code: string, keyFile: string): Promise<number | undefined> => {
  const { origin } = parseHubUrl(hub.url);
  const client = new HubClient(hub);
  const end = performance.now() + codeMs;
  let said = '';
  try {
    for (;;) {
      const { status, body, reason } = await client.send('api/hosts/enrol', { code }, false);
      const { name, key } = body;
      if (status === 201 && typeof key === 'string') {
        mkdirSync(dirname(keyFile), { recursive: true, mode: 0o700 });
        replaceFile(keyFile, `${key}\n`);
        say(`enrolled as ${name} at ${origin}; the key is in ${keyFile}`);
        return undefined;
      }
      // The systemd unit passes the same code on each start.
      if (status === 403 && existsSync(keyFile)) return undefined;
      const mayComeBack = status === 0 || status === 429 || status >= 500;
      if (!mayComeBack)
        throw new SettingsError([
          status === 404
            ? `${reason}: the hub does not accept host reports; mount the profile hosts on the hub`
            : reason,
        ]);
      if (performance.now() > end) return temporaryFailure;
      if (reason !== said) say(`${reason}; trying again`);
      said = reason;
      await setTimeout(retryMs);
    }
  } finally {
    client.close();
  }
};
