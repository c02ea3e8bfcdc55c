import Type, { type Static } from 'typebox';

export const SimpleTask = Type.Object({
  id: Type.Integer(),
  title: Type.String(),
  status: Type.Enum(['done', 'pending'], { type: 'string' }),
});
export type SimpleTask = Static<typeof SimpleTask>;

export const SimpleTaskList = Type.Array(SimpleTask);

export const NewSimpleTask = Type.Object({ title: Type.String({ minLength: 1 }) });

export const SimpleTaskCreated = Type.Object({ message: Type.String() });

/** A simple task in a seed file; ids follow from the order. */
export const SimpleTaskSeed = Type.Object(
  {
    id: Type.Optional(Type.Integer({ minimum: 1 })),
    title: Type.String({ minLength: 1 }),
    status: Type.Optional(SimpleTask.properties.status),
  },
  { additionalProperties: false },
);
export type SimpleTaskSeed = Static<typeof SimpleTaskSeed>;
