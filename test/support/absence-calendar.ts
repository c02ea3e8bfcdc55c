import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { createServer, globalAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { writeCertificate } from './certificate.ts';
import { createFolder } from './folder.ts';
import { atEnd, type Scope } from './scope.ts';

/** Writes a calendar with events, given as lines. */
export const toCalendar = (...events: string[][]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...events.flatMap((lines, index) => ['BEGIN:VEVENT', `UID:${index}`, ...lines, 'END:VEVENT']),
    'END:VCALENDAR',
  ].join('\r\n');

/** Starts an https server that this process trusts. `respond` can be replaced. */
export const startCalendar = async (t: Scope, respond: (response: ServerResponse) => void) => {
  const { key, pem } = writeCertificate(createFolder(t), 'localhost');
  const server = createServer({ key: readFileSync(key), cert: pem }, (_, response) => respond(response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const before = globalAgent.options.ca;
  globalAgent.options.ca = pem;
  atEnd(t, () => {
    globalAgent.options.ca = before;
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}/anna.ics`;
};

/** Writes a time as in calendars. */
export const toStamp = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
