import { Compile } from 'typebox/schema';

/** Parts of a JSON Schema that are used here. */
export interface JsonSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
}

export interface Parameter {
  name: string;
  in: string;
  schema: JsonSchema;
}

interface Content {
  content?: Record<string, { schema: JsonSchema }>;
}

interface Described {
  tags: string[];
  security: unknown[];
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content>;
}

const json = 'application/json';

type Check = (value: unknown) => boolean;

/** Operation of the OpenAPI document, prepared for sending requests and checking responses. */
export interface Operation {
  method: string;
  /** Path in the document: `/api/tasks/{id}`. */
  path: string;
  profile: string;
  needsToken: boolean;
  /** False for operations that require the role Admin. */
  isForReaders: boolean;
  parameters: Parameter[];
  body: JsonSchema | undefined;
  /** Returns true for a value that fits `body`, and always for a route without a body. */
  takes: Check;
  /** Checks of the body, one for each documented status. Undocumented members fail the check. */
  answers: Map<number, Check>;
  /** Media type of a success that is not JSON. */
  textType: string | undefined;
}

/** Returns the operations of an OpenAPI document, with paths without parameters first, as in a router. */
export const toOperations = (document: { paths: Record<string, Record<string, Described>> }): Operation[] =>
  Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => toOperation(method.toUpperCase(), path, described)),
    )
    .sort((one, other) => Number(one.path.includes('{')) - Number(other.path.includes('{')));

/** Finds the operation for a method and target path. HEAD means GET, except in simple-tasks. */
export const findOperation = (
  operations: readonly Operation[],
  method: string,
  target: string,
): Operation | undefined => {
  const path = readPath(target);
  return operations.find(
    (operation) =>
      (operation.method === method || (method === 'HEAD' && answersHead(operation))) && toPattern(operation).test(path),
  );
};

/** Returns the decoded path of a target in origin or absolute form, or the text itself if it cannot be decoded. */
export const readPath = (target: string): string => {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
};

const answersHead = ({ method, profile }: Operation): boolean => method === 'GET' && profile !== 'simple-tasks';

const toPattern = ({ path, profile }: Operation): RegExp =>
  new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]*')}${profile === 'simple-tasks' ? '/?' : ''}$`);

const toOperation = (method: string, path: string, described: Described): Operation => {
  const { tags, security, parameters = [], requestBody, responses } = described;
  const body = requestBody?.content?.[json]?.schema;
  return {
    method,
    path,
    profile: tags[0] ?? '',
    needsToken: security.length > 0,
    isForReaders: JSON.stringify(security).includes('"Reader"'),
    parameters,
    body,
    takes: body ? toCheck(body) : () => true,
    answers: new Map(
      Object.entries(responses)
        .filter(([status]) => status !== 'default')
        .map(([status, { content }]) => [Number(status), toCheck(toClosed(content?.[json]?.schema ?? {}))]),
    ),
    textType: Object.keys(responses['200']?.content ?? {}).find((type) => type !== json),
  };
};

const toCheck = (schema: JsonSchema): Check => {
  const validator = Compile({ ...schema });
  return (value) => validator.Check(value);
};

/** Closes every object in a schema unless the schema opens it, because a response has no undocumented members. */
const toClosed = (schema: JsonSchema): JsonSchema => ({
  ...schema,
  ...(schema.anyOf && { anyOf: schema.anyOf.map(toClosed) }),
  ...(schema.items && { items: toClosed(schema.items) }),
  ...(schema.properties && {
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([name, property]) => [name, toClosed(property)]),
    ),
    additionalProperties: schema.additionalProperties ?? false,
  }),
});
