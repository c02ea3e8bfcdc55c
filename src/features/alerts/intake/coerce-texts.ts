import { isObject } from '../../../lib/parse-json.ts';

/** Part of a JSON schema. Lists the members that contain text schemas. */
interface Part {
  type?: unknown;
  enum?: unknown;
  properties?: Record<string, Part>;
  patternProperties?: Record<string, Part>;
  additionalProperties?: unknown;
  items?: Part;
  anyOf?: readonly Part[];
}

/** Converts numbers and booleans to text in place where the schema has text. Some senders mix them up. */
export const coerceTexts = (schema: Part, value: unknown): void => {
  for (const branch of schema.anyOf ?? []) coerceTexts(branch, value);
  if (Array.isArray(value) && schema.items) {
    for (const [index, member] of value.entries()) value[index] = toMember(schema.items, member);
  } else if (isObject(value)) {
    const { additionalProperties } = schema;
    const [others = isObject(additionalProperties) ? additionalProperties : undefined] = Object.values(
      schema.patternProperties ?? {},
    );
    for (const name of Object.keys(value)) {
      const part = schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : others;
      if (part) value[name] = toMember(part, value[name]);
    }
  }
};

const toMember = (part: Part, member: unknown): unknown => {
  if (part.type === 'string' && !part.enum && (typeof member === 'number' || typeof member === 'boolean')) {
    return String(member);
  }
  coerceTexts(part, member);
  return member;
};
