import { setImmediate } from 'node:timers/promises';
import { needs } from '../../auth/access.ts';
import { sendJson } from '../../http/json.ts';
import type { Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { parseSchedule } from '../../kit/schedule.ts';
import { toTimeText } from '../../kit/time.ts';
import { createSerial } from '../../lib/scheduling.ts';
import { readOwnTimeZone } from '../../lib/time-zone.ts';
import { readSpace } from '../../storage/journal/files.ts';
import { About, type Licence, LicenceList, ScheduleQuery, ScheduleTimes } from './schema.ts';

interface AboutParts extends Pick<Parts, 'version' | 'storage' | 'authorize' | 'clock'> {
  /** Returns the seconds since startup. */
  readUptime(): number;
  readLicences(): Licence[];
}

export const createAboutRoutes = (parts: AboutParts): Route[] => [
  createReadRoute(parts),
  createLicencesRoute(parts),
  createScheduleRoute(parts),
];

const createReadRoute = ({ version, storage, authorize, readUptime }: AboutParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/about',
    ...needs('settings:read'),
    summary: 'Get version, store and data folder of the server',
    schema: { operationId: 'getAbout', response: { 200: About } },
    handler: async (request, reply) => {
      const space = await readSpace(storage.directory).catch(() => undefined);
      return sendJson(reply, {
        version,
        runtime: `Node.js ${process.versions.node}`,
        uptimeSeconds: Math.floor(readUptime()),
        store: storage.store,
        // Only administrators may see the machine's paths.
        dataFolder: authorize(request, needs('settings:write')) === undefined ? storage.directory : null,
        freeBytes: space?.available ?? null,
      });
    },
  });

const createLicencesRoute = ({ readLicences }: AboutParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/about/licences',
    ...needs('settings:read'),
    summary: 'List the licences of the libraries in this program',
    schema: { operationId: 'listLicences', response: { 200: LicenceList } },
    handler: async (_request, reply) => {
      const data = readLicences();
      return sendJson(reply, { count: data.length, data });
    },
  });

/** Number of times in a preview. */
const previewCount = 3;

/** Runs one preview at a time. A rare schedule can take up to 100 ms. */
const inTurn = createSerial();

const createScheduleRoute = ({ clock }: AboutParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/about/schedule',
    ...needs('incidents:read'),
    summary: 'Preview the next times of a schedule',
    schema: { operationId: 'previewSchedule', querystring: ScheduleQuery, response: { 200: ScheduleTimes } },
    handler: ({ query: { schedule, timeZone = readOwnTimeZone() } }) =>
      inTurn(async () => {
        await setImmediate();
        const data = parseSchedule(schedule, timeZone)
          .nextRuns(previewCount, clock())
          .map((at) => toTimeText(at.getTime()));
        return { count: data.length, data, timeZone };
      }),
  });
