import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../../src/server/package-info.ts';

/** Unit files of the booted machine, by name, with services in every state that systemd has. */
export const unitFiles: Record<string, string> = {
  'demo-running.service': `[Unit]
Description=Running "quoted" é
[Service]
ExecStart=/bin/sleep infinity
User=nobody
[Install]
WantedBy=multi-user.target
Alias=demo-alias.service
`,
  'demo-failed.service': `[Unit]
Description=Failed = ended
[Service]
ExecStart=/bin/sh -c 'exit 3'
`,
  'demo-killed.service': `[Service]
ExecStart=/bin/sh -c 'kill -KILL $$$$'
`,
  'demo-done.service': `[Service]
Type=oneshot
ExecStart=/bin/true
`,
  'demo-starting.service': `[Service]
ExecStartPre=/bin/sleep infinity
ExecStart=/bin/true
TimeoutStartSec=infinity
`,
  'demo-stopping.service': `[Service]
ExecStart=/bin/sleep infinity
ExecStop=/bin/sleep infinity
TimeoutStopSec=infinity
`,
  'demo-manual.service': `[Service]
ExecStart=/bin/sleep infinity
[Install]
WantedBy=multi-user.target
`,
  'demo-esc\\x2daped.service': `[Service]
ExecStart=/bin/sleep infinity
`,
  'demo-many@.service': `[Unit]
Description=One of many: %i
[Service]
ExecStart=/bin/sleep infinity
`,
  'signalbox.service': readOwnUnit(
    '/srv/node /opt/signalbox/dist/signalbox.js --port 0 --profiles commands --execute-auth none --data-dir /var/lib/signalbox',
  ),
};

/** Returns the shipped unit file with a different command. */
function readOwnUnit(command: string): string {
  const path = join(packageRoot, 'deploy', 'signalbox.service');
  return readFileSync(path, 'utf8').replace(/^ExecStart=.*$/m, `ExecStart=${command}`);
}
