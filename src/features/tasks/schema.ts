import Type, { type Static } from 'typebox';
import { defineShape, optionalText } from '../../kit/shape.ts';

export const priorities = ['Low', 'Medium', 'High', 'Critical'] as const;
export const statuses = ['Pending', 'InProgress', 'Completed', 'Cancelled'] as const;

/** Maximum number of Unicode code points in a title. */
const maxTitleLength = 200;

/** Any character that is not white space. JavaScript does not treat U+0085 as white space, but Unicode does. */
const notBlank = '[^\\s\\u0085]';

const Title = Type.String({
  pattern: notBlank,
  maxLength: maxTitleLength,
  description: 'Text that is not blank.',
  examples: ['Check the backups'],
});
const Description = Type.String({ examples: ['Check the backups of last night'] });
const Priority = Type.Enum(priorities, { type: 'string', title: 'TaskPriority' });
const Status = Type.Enum(statuses, { type: 'string', title: 'TaskStatus' });
const Timestamp = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d$',
  description: 'Local time without a zone, such as 2026-01-31T09:30:00.',
  examples: ['2026-01-31T09:30:00'],
});

export const Task = defineShape('Task', {
  Id: Type.Integer({ examples: [2] }),
  Title,
  Description,
  Priority,
  Status,
  CreatedAt: Timestamp,
  UpdatedAt: Type.Optional(Timestamp),
});
export type Task = Static<typeof Task>;

/** Body of a new task. The status is validated but ignored, because every new task is Pending. */
export const NewTask = defineShape('NewTask', {
  Title,
  Description: Type.Optional(Description),
  Priority: Type.Optional(Priority),
  Status: Type.Optional(Status),
});
export type NewTask = Static<typeof NewTask>;

/** Body of a change. Absent, null and empty fields keep their values. */
export const TaskChanges = Type.Partial(NewTask, { title: 'TaskChanges' });
export type TaskChanges = Static<typeof TaskChanges>;

/** Filters. Each accepts any string. Their titles list the possible values in the OpenAPI document. */
export const TaskQuery = Type.Object({
  status: Type.Optional(Type.String({ description: 'Only tasks with this status.', title: 'TaskStatus' })),
  priority: Type.Optional(Type.String({ description: 'Only tasks with this priority.', title: 'TaskPriority' })),
  limit: Type.Integer({ minimum: 0, default: 50, description: 'Maximum number of tasks to return.' }),
  after: Type.Integer({ minimum: 0, default: 0, description: 'List only tasks with ids above this id.' }),
  // Lists in another order ignore these parameters, just like unknown ones.
  order: optionalText('`newest`: newest first, at most 1000. Other values have no effect.', 'newest'),
  before: optionalText('With `newest`: list only tasks with ids below this id.', '42'),
  q: optionalText(
    'With `newest`: list only tasks whose title contains this text, ignoring case; up to 256 characters.',
  ),
});
export type TaskQuery = Static<typeof TaskQuery>;

export const TaskList = defineShape('TaskList', {
  total: Type.Integer({ description: 'Number of matches without the limit.', examples: [1] }),
  count: Type.Integer({ description: 'Number of tasks in `data`.', examples: [1] }),
  limit: Type.Integer({ examples: [50] }),
  data: Type.Array(Task),
});

export const UserTaskList = defineShape('UserTaskList', {
  user: Type.String({ examples: ['reader'] }),
  count: Type.Integer({ examples: [1] }),
  data: Type.Array(Task),
});

export const TaskDeleted = defineShape('TaskDeleted', {
  message: Type.String({ examples: ['Task with Id=2 deleted'] }),
  remaining: Type.Integer({ description: 'Number of remaining tasks.', examples: [1] }),
});

export const TaskRefusal = defineShape('TaskRefusal', {
  error: Type.String({ examples: ['Validation failed'] }),
  detail: Type.Optional(
    Type.Array(Type.String({ examples: ['Title is required'] }), { description: 'All validation errors.' }),
  ),
});

/** Event on the `tasks` topic. */
export const TaskNotice = defineShape('TaskNotice', {
  id: Type.Integer({ examples: [2] }),
  kind: Type.Enum(['created', 'updated', 'deleted'], { type: 'string' }),
});

export const TaskHealth = defineShape('TaskHealth', {
  status: Type.Literal('healthy'),
  timestamp: Type.String({ description: 'UTC, with milliseconds.', examples: ['2026-01-31T09:30:00.123Z'] }),
  version: Type.String({ examples: ['1.0.0'] }),
  machine: Type.String({ examples: ['web-1'] }),
  pwsh: Type.String({ description: 'Version of the runtime (Node.js).', examples: ['20.20.2'] }),
});

/** Maximum id in a seed file. Keeps later ids below 2^53. */
const maxSeedId = 1e12;

/** Task in a seed file. Ids must increase. Missing fields get the defaults of a new task. */
export const TaskSeed = Type.Object(
  {
    ...NewTask.properties,
    Id: Type.Optional(Type.Integer({ minimum: 1, maximum: maxSeedId })),
    CreatedAt: Type.Optional(Timestamp),
    UpdatedAt: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
);
export type TaskSeed = Static<typeof TaskSeed>;
