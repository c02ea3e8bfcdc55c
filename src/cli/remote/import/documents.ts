import { UsageError } from '../../args.ts';

/** Error with a one-line message that explains why an export cannot be read. */
export class ImportError extends Error {}

/** Reads an export. Turns any other error into an ImportError that explains it. */
export const readExplained = async <T>(read: () => T | Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ImportError || error instanceof UsageError) throw error;
    throw new ImportError(`the export cannot be read: ${(error as Error).message.split('\n', 1)[0]}`);
  }
};

/** Maximum number of entries in a list. */
const mostEntries = 10_000;

const maxTextLength = 1000;

/** The year 10000 in Unix milliseconds. Calculations in time zones fail near the limits of a Date. */
const timeLimit = Date.UTC(10_000, 0);

type Json = Record<string, unknown>;

const refuse = (place: string, expected: string): never => {
  throw new ImportError(`${place} must be ${expected}`);
};

/** Object in an export. Knows the path of each member for error messages. */
export class Entry {
  readonly #value: Json;
  readonly place: string;

  constructor(value: unknown, place: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(place, 'an object');
    this.#value = value as Json;
    this.place = place;
  }

  has(member: string): boolean {
    return this.#get(member) !== undefined;
  }

  /** Returns a string, or a number as a string. Undefined if the member is missing. */
  find(member: string): string | undefined {
    const value = this.#get(member);
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value.length <= maxTextLength) return value;
    return typeof value === 'number'
      ? `${value}`
      : refuse(this.#at(member), `a string of at most ${maxTextLength} characters`);
  }

  text(member: string): string {
    return this.find(member) ?? refuse(this.#at(member), 'a string');
  }

  number(member: string, otherwise?: number): number {
    const value = this.#get(member) ?? otherwise;
    return typeof value === 'number' && Number.isFinite(value) ? value : refuse(this.#at(member), 'a number');
  }

  /** Returns a time in Unix milliseconds. */
  time(member: string): number {
    const time = Date.parse(this.text(member));
    return Math.abs(time) < timeLimit ? time : refuse(this.#at(member), 'a time');
  }

  entry(member: string): Entry {
    return new Entry(this.#get(member), this.#at(member));
  }

  /** Returns the objects in a list. Empty if the member is missing. */
  list(member: string): Entry[] {
    return this.values(member).map((each, index) => new Entry(each, `${this.#at(member)}[${index}]`));
  }

  /** Returns the strings in a list. Empty if the member is missing. */
  texts(member: string): string[] {
    const all = this.values(member).map((each) => (typeof each === 'number' ? `${each}` : each));
    const isText = (each: unknown): each is string => typeof each === 'string' && each.length <= maxTextLength;
    return all.every(isText) ? all : refuse(this.#at(member), 'a list of strings');
  }

  /** Returns a member without checking its type. Undefined for null. */
  value(member: string): unknown {
    return this.#get(member);
  }

  values(member: string): unknown[] {
    const value = this.#get(member) ?? [];
    if (!Array.isArray(value)) return refuse(this.#at(member), 'a list');
    return value.length <= mostEntries ? value : refuse(this.#at(member), `a list of at most ${mostEntries} entries`);
  }

  #get(member: string): unknown {
    return Object.hasOwn(this.#value, member) ? (this.#value[member] ?? undefined) : undefined;
  }

  #at(member: string): string {
    return this.place === '' ? member : `${this.place}.${member}`;
  }
}
