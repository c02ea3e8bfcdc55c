/** A Set takes up to 2^24 values, so there is one for each last byte. */
const setCount = 256;

/** Finds UUIDs that come twice among many millions; each takes about 60 bytes. */
export class SeenIds {
  readonly #sets = Array.from({ length: setCount }, () => new Set<string>());

  /** Whether the id, in lower case, is new; it is not from then on. */
  add(id: string): boolean {
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
    const set = this.#sets[bytes.at(-1) ?? 0] as Set<string>;
    const text = bytes.toString('latin1');
    if (set.has(text)) return false;
    set.add(text);
    return true;
  }
}
