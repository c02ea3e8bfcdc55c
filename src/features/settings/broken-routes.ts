import Type from 'typebox';
import { needs } from '../../auth/access.ts';
import { callerOf } from '../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import { ifMatchHeader, readIfMatch } from '../../http/text-forms.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineShape } from '../../kit/shape.ts';
import { Time, toTimeText } from '../../kit/time.ts';
import type { BrokenSetting, LoggedSettings } from './store.ts';

const path = '/api/settings/broken';

const ShownBroken = defineShape('BrokenSetting', {
  kind: Type.String({ description: 'Kind of the setting.', examples: ['heartbeat'] }),
  name: Type.String({ description: 'Name or id of the setting.', examples: ['backup'] }),
  reason: Type.String({
    description: 'Reason why this version cannot read the setting.',
    examples: ['schedule must be a cron expression such as "0 2 * * 6"'],
  }),
  updatedBy: Type.String({ description: 'Author of the last change: a user or `key:NAME`.', examples: ['admin'] }),
  updatedAt: Time,
  version: Type.Integer({ description: 'Version of the setting, for `If-Match`.', examples: [12] }),
});

const BrokenList = defineShape('BrokenSettingList', {
  count: Type.Integer({ description: 'Number of settings in `data`.', examples: [1] }),
  data: Type.Array(ShownBroken),
});

const BrokenParams = Type.Object({
  kind: Type.String({ description: 'Kind of the setting.', examples: ['heartbeat'] }),
  name: Type.String({ description: 'Name or id of the setting.', examples: ['backup'] }),
});

/**
 * Creates routes for settings that this version cannot read. Such a setting stays stored until somebody replaces or
 * deletes it.
 */
export const createBrokenRoutes = (store: LoggedSettings): Route[] => [
  defineRoute({
    method: 'GET',
    path,
    ...needs('audit:read'),
    summary: 'List stored settings that cannot be read and therefore have no effect, with the reasons',
    schema: { operationId: 'listBrokenSettings', response: { 200: BrokenList } },
    handler: async (_request, reply) => {
      const data = store.listBroken().map(toShown);
      return sendJson(reply, { count: data.length, data });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/:kind/:name`,
    // These settings include users and keys.
    ...needs('accounts:manage'),
    summary: 'Delete a setting that cannot be read',
    headers: { request: ifMatchHeader },
    schema: {
      operationId: 'deleteBrokenSetting',
      params: BrokenParams,
      response: { 200: ShownBroken, 404: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const { kind, name } = request.params;
      const found = store.listBroken().find((one) => one.kind === kind && one.name === name);
      if (!found) {
        throw new HttpError('not-found', `There is no unreadable ${kind.slice(0, 100)} ${name.slice(0, 100)}`);
      }
      // If the setting has been replaced in the meantime, it is not deleted.
      const expected = readIfMatch(request.headers) ?? [found.version];
      await store.delete(kind, name, callerOf(request), expected, found.label);
      return sendJson(reply, toShown(found));
    },
  }),
];

const toShown = ({ kind, name, reason, by, at, version }: BrokenSetting) => ({
  kind,
  name,
  reason,
  updatedBy: by,
  updatedAt: toTimeText(at),
  version,
});
