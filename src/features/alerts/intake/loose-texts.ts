import { isObject } from '../../../lib/parse-json.ts';

/** A part of a schema, as far as it says where texts are. */
interface Part {
  type?: unknown;
  enum?: unknown;
  properties?: Record<string, Part>;
  patternProperties?: Record<string, Part>;
  additionalProperties?: unknown;
  items?: Part;
  anyOf?: readonly Part[];
}

/** Replaces numbers, true and false by their texts where a schema has a text: senders in languages without types mix them up. */
export const makeTexts = (schema: Part, value: unknown): void => {
  for (const branch of schema.anyOf ?? []) makeTexts(branch, value);
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
  makeTexts(part, member);
  return member;
};
