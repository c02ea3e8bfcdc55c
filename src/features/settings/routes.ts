import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { sendJson } from '../../http/json.ts';
import { createClientSignal, createQueue } from '../../http/overload.ts';
import { toText } from '../../kit/alert-record.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineShape, optionalText, orNull, pagingQuery } from '../../kit/shape.ts';
import { Time, toTimeText } from '../../kit/time.ts';
import { MiB } from '../../lib/units.ts';
import type { StoredRecord } from '../../storage/journal/line.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import type { AuditNote } from './audit-note.ts';
import type { LoggedSettings } from './store.ts';

const ShownChange = defineShape('SettingChange', {
  seq: Type.Integer({ description: 'Sequence number of the change.', examples: [12] }),
  at: Time,
  by: Type.String({ description: 'Author of the change: a user, `key:NAME` or `signalbox`.', examples: ['admin'] }),
  kind: Type.String({ description: 'Kind of the setting.', examples: ['silence'] }),
  name: Type.String({ description: 'Name or id of the setting.', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
  label: orNull(Type.String({ examples: ['source backup*'] }), 'Description of a setting whose name is an id.'),
  change: Type.Enum(['put', 'deleted'], {
    type: 'string',
    description: '`put`: the setting was created or changed.',
  }),
  isNew: orNull(
    Type.Boolean({ examples: [false] }),
    'True if the change created the setting; null for changes of version 1.1.',
  ),
  fields: Type.Array(Type.String({ examples: ['endsAt'] }), {
    description: 'Names of the members whose value changed; empty if the setting is new or deleted.',
  }),
});
type ShownChange = Static<typeof ShownChange>;

const SettingChangePage = defineShape('SettingChangePage', {
  count: Type.Integer({ description: 'Number of changes in `data`.', examples: [1] }),
  data: Type.Array(ShownChange, { description: 'Newest first.' }),
  next: orNull(Type.Integer({ examples: [12] }), 'Value of `before` for the next page.'),
});

const SettingChangeQuery = Type.Object({
  kind: optionalText('Only changes of this kind.', 'silence'),
  ...pagingQuery('changes', 'Only changes before this `seq`; pass the `next` of the previous page.'),
});

export const createAuditRoute = (log: RecordLog, store: LoggedSettings): Route => {
  const queue = createQueue({ running: 2, waiting: 32, refusal: 'Too many lists of changes are being read' });
  return defineRoute({
    method: 'GET',
    path: '/api/audit',
    ...needs('audit:read'),
    summary: 'List changes to runtime settings with their authors, newest first',
    schema: {
      operationId: 'listSettingChanges',
      querystring: SettingChangeQuery,
      response: { 200: SettingChangePage },
    },
    handler: async ({ query: { kind, limit, before } }, reply) => {
      const test = (record: StoredRecord): boolean =>
        store.isEffective(record) && (kind === undefined || record['kind'] === kind);
      const search = () => log.search({ before, test, limit, maxBytes: 64 * MiB });
      const { records, next } = await queue.run(search, createClientSignal(reply));
      return sendJson(reply, { count: records.length, data: records.map(toShownChange), next: next ?? null });
    },
  });
};

/** Hides the value of a change, because it may be secret. */
const toShownChange = ({ seq, at, by, kind, name, value, note }: StoredRecord): ShownChange => {
  const { label = null, isNew = false, fields = [] } = (note ?? {}) as AuditNote;
  return {
    seq,
    at: toTimeText(Number(at)),
    by: toText(by),
    kind: toText(kind),
    name: toText(name),
    label,
    change: value === null ? 'deleted' : 'put',
    isNew: note === undefined ? null : isNew,
    fields,
  };
};
