/** How many names are counted, with slot 0, which is for all others. */
export const slots = 128;
const longestName = 64;

/** The names that an index counts by, each with a number. Names that are too many or too long share number 0. */
export class Keys {
  readonly #names: string[] = [];
  readonly #slots = new Map<string, number>();

  /** `first` always have numbers of their own. */
  constructor(first: readonly string[]) {
    for (const name of first) this.slotOf(name);
  }

  get names(): readonly string[] {
    return this.#names;
  }

  slotOf(name: string | undefined): number {
    if (name === undefined) return 0;
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    if (name.length > longestName || this.#names.length + 1 === slots) return 0;
    this.#slots.set(name, this.#names.push(name));
    return this.#names.length;
  }

  /** The name of a slot; undefined for slot 0. */
  nameOf(slot: number): string | undefined {
    return this.#names[slot - 1];
  }
}
