import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { ownJson, sendJson } from '../../http/json.ts';
import type { SharedIncident } from '../../kit/incident.ts';
import type { IncidentSource } from '../../kit/incident-source.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { PictureStore } from './picture-store.ts';
import { MachinePicture } from './schema.ts';

const PictureParams = Type.Object({
  id: Type.String({ description: 'Id or number of an incident.', examples: ['412'] }),
});

interface PictureRouteParts {
  store: Pick<PictureStore, 'read'>;
  incidents: Pick<IncidentSource, 'require'>;
  /** Returns the reason why an incident has no picture, as a clause. */
  explain(incident: SharedIncident): Promise<string>;
}

export const createPictureRoutes = ({ store, incidents, explain }: PictureRouteParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/incidents/:id/snapshot',
    ...needs('incidents:read'),
    summary: 'Get the picture of the machine at the time when an incident opened',
    schema: {
      operationId: 'getIncidentSnapshot',
      params: PictureParams,
      response: { 200: MachinePicture, 404: ErrorBody },
    },
    handler: async ({ params: { id } }, reply) => {
      const incident = await incidents.require(id);
      const text = incident.snapshot?.isKept === false ? undefined : await store.read(incident.id);
      if (text === undefined) {
        throw new HttpError('not-found', `Incident #${incident.number} has no picture: ${await explain(incident)}`);
      }
      return sendJson(reply, { [ownJson]: text });
    },
  }),
];
