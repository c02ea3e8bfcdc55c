/** Key of an entry's version: how often it has been written, from 1. */
export const version = Symbol('version');

/** An entry with the version that it has in its store. */
export type Versioned<T> = T & { readonly [version]: number };
