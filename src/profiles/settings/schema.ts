import Type, { type Static } from 'typebox';
import { defineShape, nullable, optionalText, pagingQuery } from '../route.ts';

export const MadeChange = defineShape('SettingChange', {
  seq: Type.Integer({ description: 'Its place in the order of all changes.', examples: [12] }),
  at: Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] }),
  by: Type.String({ description: 'Who made it: a user, `key:NAME`, or `signalbox`.', examples: ['admin'] }),
  kind: Type.String({ description: 'What was changed.', examples: ['silence'] }),
  name: Type.String({ description: 'Which one.', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c56'] }),
  change: Type.Enum(['put', 'deleted'], { type: 'string', description: '`put`: it is new, or has another value.' }),
});
export type MadeChange = Static<typeof MadeChange>;

export const MadeChangePage = defineShape('SettingChangePage', {
  count: Type.Integer({ description: 'Changes in `data`.', examples: [1] }),
  data: Type.Array(MadeChange, { description: 'Newest first.' }),
  next: nullable(Type.Integer({ examples: [12] }), 'The `before` of the next page. `null` where there is none.'),
});

export const MadeChangeQuery = Type.Object({
  kind: optionalText('Only changes of this kind.', 'silence'),
  ...pagingQuery('changes', 'Only changes before this `seq`: the `next` of a page.'),
});
