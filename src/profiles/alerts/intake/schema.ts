import Type from 'typebox';
import { defineShape } from '../../route.ts';

export const IntakeReceipt = defineShape('IntakeReceipt', {
  received: Type.Literal(true),
  ids: Type.Array(Type.String({ format: 'uuid' }), { description: "The id of each alert, in the body's order." }),
  repeated: Type.Integer({ description: 'How many of them had been stored before; their ids are those of the first.' }),
});
