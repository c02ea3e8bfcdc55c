/** Returns a JSON document with each `$ref` replaced by its target. */
export const resolveReferences = <T>(document: T): T => resolve(document, document) as T;

const resolve = (value: unknown, document: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => resolve(each, document));
  if ('$ref' in value && typeof value.$ref === 'string') return resolve(follow(value.$ref, document), document);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolve(member, document)]));
};

/** Resolves a reference such as `#/a/b` to member `b` of member `a`. */
const follow = (reference: string, document: unknown): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce((value, key) => (value as Record<string, unknown>)[key], document);
