import { createSerial } from '../scheduling.ts';
import { type Block, blockBytes, indexBackwards, type Source } from './block.ts';
import type { Keys } from './keys.ts';
import { Minutes } from './minutes.ts';

/** How much is indexed before other readers have their turn. */
const stepBytes = 1024 * 1024;

/** The blocks of one file, in order; gaps between them are filled when somebody reads there. */
export class FileIndex {
  readonly keys: Keys;
  readonly minutes = new Minutes();
  readonly #serially = createSerial();
  #blocks: Block[];

  constructor(keys: Keys, blocks: Block[] = []) {
    this.keys = keys;
    this.#blocks = blocks;
    for (const block of blocks) this.minutes.add(block);
  }

  get blocks(): readonly Block[] {
    return this.#blocks;
  }

  /** Whether there are no gaps in the first `end` bytes. */
  isComplete(end: number): boolean {
    let covered = 0;
    for (const block of this.#blocks) {
      if (block.start > covered) return false;
      covered = block.end;
    }
    return covered >= end;
  }

  /**
   * The blocks of the first `end` bytes that can hold what is wanted, the last one first, each with the offset up to which
   * it belongs to these bytes. Others are among them where they were not indexed before.
   */
  async *readBackwards(
    source: Source,
    end: number,
    canHold: (block: Block) => boolean = () => true,
  ): AsyncGenerator<{ block: Block; end: number }> {
    for (let position = this.#skip(end, canHold); position > 0; position = this.#skip(position, canHold)) {
      const known = this.#blockBefore(position);
      if (known) {
        yield { block: known, end: position };
        position = known.start;
        continue;
      }
      // Two readers must not fill a gap at the same time.
      await this.#serially(() => this.#fillBefore(source, position));
      const block = this.#blockBefore(position);
      if (block) yield { block, end: position };
      position = block?.start ?? position;
    }
  }

  /** Where, before the position, a block ends that can hold what is wanted or was not indexed yet. */
  #skip(from: number, canHold: (block: Block) => boolean): number {
    let position = from;
    for (let place = this.#placeOf(from); position > 0; place -= 1) {
      const block = this.#blocks[place];
      if (!block || block.start >= position || block.end < position || canHold(block)) break;
      position = block.start;
    }
    return position;
  }

  /** The block that holds the byte before the position. */
  #blockBefore(position: number): Block | undefined {
    const block = this.#blocks[this.#placeOf(position)];
    return block && block.start < position ? block : undefined;
  }

  /** Adds blocks before the position, as many as make a step. */
  async #fillBefore(source: Source, position: number): Promise<void> {
    if (this.#blockBefore(position)) return;
    const place = this.#placeOf(position);
    const previous = this.#blocks[place - 1];
    // A short block at the end of what was the file's end grows with the file.
    const isShort = previous !== undefined && previous.end - previous.start < blockBytes;
    const from = previous ? (isShort ? previous.start : previous.end) : 0;
    const added: Block[] = [];
    for await (const block of indexBackwards(source, this.keys, from, position)) {
      added.unshift(block);
      if (position - block.start >= stepBytes) break;
    }
    const replacesShort = isShort && (added[0]?.start ?? position) < previous.end;
    const removed = this.#blocks.splice(replacesShort ? place - 1 : place, replacesShort ? 1 : 0, ...added);
    for (const block of removed) this.minutes.remove(block);
    for (const block of added) this.minutes.add(block);
  }

  /** Index of the first block that ends at the position or behind it. */
  #placeOf(position: number): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#blocks[middle]?.end ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
