import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { ownJson, sendJson } from '../../http/json.ts';
import type { IncidentSource, SharedIncident } from '../../kit/incident-source.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { MachineSnapshot } from './schema.ts';
import type { SnapshotStore } from './store.ts';

const SnapshotParams = Type.Object({
  id: Type.String({ description: 'Id of an incident, or its number.', examples: ['412'] }),
});

interface RouteParts {
  store: Pick<SnapshotStore, 'read'>;
  incidents: Pick<IncidentSource, 'require'> | undefined;
  explain(incident: SharedIncident): Promise<string>;
}

export const createSnapshotRoutes = ({ store, incidents, explain }: RouteParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/incidents/:id/snapshot',
    ...needs('incidents:read'),
    summary: 'What the machine was doing when an incident opened',
    schema: {
      operationId: 'getIncidentSnapshot',
      params: SnapshotParams,
      response: { 200: MachineSnapshot, 404: ErrorBody },
    },
    handler: async ({ params: { id } }, reply) => {
      if (!incidents) throw new HttpError('not-found', 'Incidents are not served here');
      const incident = await incidents.require(id);
      const text = incident.snapshot?.isKept === false ? undefined : await store.read(incident.id);
      if (text === undefined) {
        throw new HttpError('not-found', `Incident #${incident.number} has no snapshot: ${await explain(incident)}`);
      }
      return sendJson(reply, { [ownJson]: text });
    },
  }),
];
