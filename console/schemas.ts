/** JSON Schema keywords that responses are checked against. */
interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

interface Operation {
  operationId: string;
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

/** The server's OpenAPI document. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Schemas by name, and schemas of responses by operation id. Empty until loaded. */
const named = new Map<string, Schema>();
const ofResponses = new Map<string, Schema>();

/**
 * Adds the schemas of all responses. They reveal differences between an open page and a server that has since been
 * upgraded.
 */
export const addSchemas = ({ paths = {}, components }: Partial<OpenApi>): void => {
  for (const [name, schema] of Object.entries(components?.schemas ?? {})) named.set(name, schema);
  for (const { operationId, responses } of Object.values(paths).flatMap(Object.values<Operation>)) {
    const success = responses['200'] ?? responses['201'] ?? responses['202'];
    const schema = success?.content?.['application/json']?.schema;
    if (schema) ofResponses.set(operationId, schema);
  }
};

/**
 * Returns the first place where a route's response does not match its schema, such as `.data[3].level`. Undefined if
 * the response is valid.
 */
export const findMismatch = (operationId: string, value: unknown): string | undefined =>
  findDifference(value, ofResponses.get(operationId));

const findDifference = (value: unknown, schema: Schema | undefined): string | undefined => {
  if (!schema) return undefined;
  const { $ref, anyOf, type, properties = {}, required = [], items } = schema;
  if ($ref) return findDifference(value, named.get($ref.split('/').at(-1) ?? ''));
  if (anyOf) return anyOf.some((each) => findDifference(value, each) === undefined) ? undefined : '';
  if (type && !isOfType(value, type)) return '';
  if (type === 'array' && items) {
    for (const [index, each] of (value as unknown[]).entries()) {
      const place = findDifference(each, items);
      if (place !== undefined) return `[${index}]${place}`;
    }
  }
  if (type !== 'object') return undefined;
  const members = value as Record<string, unknown>;
  for (const name of new Set([...required, ...Object.keys(properties)])) {
    const isOptional = members[name] === undefined && !required.includes(name);
    const place = isOptional ? undefined : findDifference(members[name], properties[name]);
    if (place !== undefined) return `.${name}${place}`;
  }
  return undefined;
};

const isOfType = (value: unknown, type: string): boolean => {
  if (type === 'null' || value === null) return type === 'null' && value === null;
  if (type === 'array' || Array.isArray(value)) return type === 'array' && Array.isArray(value);
  return typeof value === (type === 'integer' ? 'number' : type);
};
