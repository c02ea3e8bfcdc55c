/**
 * What the console relies on in a response: a type's name, a list of one shape, or an object with the shapes of its
 * members. A name that ends with `?` also accepts null and absent values.
 */
export type Shape = 'string' | 'number' | 'boolean' | 'string?' | 'number?' | 'object' | 'object?' | Shapes | [Shape];
interface Shapes {
  [member: string]: Shape;
}

/** The first place where the value differs from the shape, e.g. `data[3].level`; undefined if it fits. */
export const findMismatch = (value: unknown, shape: Shape, place = 'response'): string | undefined => {
  if (typeof shape === 'string') return isOfType(value, shape) ? undefined : place;
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return place;
    return findFirst(value, (each, index) => findMismatch(each, shape[0], `${place}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return place;
  return findFirst(Object.entries(shape), ([name, member]) =>
    findMismatch((value as Record<string, unknown>)[name], member, `${place}.${name}`),
  );
};

const isOfType = (value: unknown, name: string): boolean => {
  if (name.endsWith('?') && (value === null || value === undefined)) return true;
  return typeof value === name.replace('?', '') && value !== null;
};

const findFirst = <T>(values: T[], find: (value: T, index: number) => string | undefined): string | undefined => {
  for (const [index, value] of values.entries()) {
    const found = find(value, index);
    if (found !== undefined) return found;
  }
  return undefined;
};
