import type { FastifySchema } from 'fastify';
import Type, { type TSchema } from 'typebox';

/** Headers of a route by name, with what each means. */
export interface DocumentedHeaders {
  request?: Readonly<Record<string, string>>;
  response?: Readonly<Record<string, string>>;
}

/** The schema of a request's headers, for the OpenAPI document only: the server checks them itself. */
export const toHeaderSchema = (schema: FastifySchema) => {
  const request = readHeaders(schema).request ?? {};
  const properties = Object.entries(request).map(([name, description]) => [
    name,
    Type.Optional(Type.String({ description })),
  ]);
  return properties.length > 0 ? { headers: Type.Object(Object.fromEntries(properties)) } : {};
};

/** The headers of a response, as the OpenAPI document's plugin takes them. */
export const toResponseHeaders = (schema: FastifySchema, status: string): { headers?: Record<string, TSchema> } => {
  const response = Object.entries(readHeaders(schema).response ?? {});
  if (!/^2/.test(status) || response.length === 0) return {};
  return {
    headers: Object.fromEntries(response.map(([name, description]) => [name, Type.String({ description })])),
  };
};

const readHeaders = (schema: FastifySchema): DocumentedHeaders =>
  (schema as { documentedHeaders?: DocumentedHeaders }).documentedHeaders ?? {};
