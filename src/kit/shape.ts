import Type, { type TProperties, type TSchema } from 'typebox';

/** Id of a task in a path, documented as a number. Any other text gets a 404. */
export const TaskId = Type.String({ description: 'Id of a task, in decimal digits.', documentedType: 'integer' });

/** Pattern of a record id: a lower-case UUID. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Creates an object schema that the OpenAPI document lists under its title. */
export const defineShape = <P extends TProperties>(title: string, properties: P) => Type.Object(properties, { title });

/** Creates the schema of a complete list. `noun` names the entries in messages. `order` describes their order. */
export const defineList = <T extends TSchema>(title: string, noun: string, entry: T, order?: string) =>
  defineShape(title, {
    count: Type.Integer({ description: `Number of ${noun.toLowerCase()} in \`data\`.`, examples: [1] }),
    data: Type.Array(entry, order === undefined ? {} : { description: order }),
  });

/**
 * Creates the parameters of a paged list, newest first. `before` is the description of the parameter with that name.
 */
export const pagingQuery = (nouns: string, before = 'The `next` of the previous page.') => ({
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 50, description: `Maximum number of ${nouns} to return.` }),
  before: Type.Optional(Type.Integer({ minimum: 1, description: before })),
});

/** Creates the schema of an optional text. */
export const optionalText = (description: string, example?: string) =>
  Type.Optional(Type.String({ description, ...(example !== undefined && { examples: [example] }) }));

/** Creates the schema of a value or null. */
export const nullable = <T extends TSchema>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** Creates the schema of a value or null. Adds null to its description. */
export const orNull = <T extends TSchema>(schema: T, description: string) =>
  nullable(schema, `${description} \`null\` if there is none.`);
