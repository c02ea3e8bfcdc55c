import Type from 'typebox';
import { defineShape } from '../../route.ts';

export const IntakeReceipt = defineShape('IntakeReceipt', {
  received: Type.Literal(true),
  ids: Type.Array(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }), {
    description: "The id of each alert, in the body's order.",
  }),
  repeated: Type.Integer({
    examples: [0],
    description: 'How many of them had been stored before; their ids are those of the first.',
  }),
});
