import { stripVTControlCharacters } from 'node:util';

const mostBytes = 4096;
const mostLines = 20;

/** The last 20 lines of a program's output, at most 4 KiB. */
export class OutputTail {
  #bytes: Buffer = Buffer.alloc(0);
  readonly #secret: string;
  readonly #keptBytes: number;

  /** `secret`, in ASCII, is shown as `***`. */
  constructor(secret = '') {
    this.#secret = secret;
    // So that a secret which begins before the tail is found.
    this.#keptBytes = mostBytes + secret.length;
  }

  readonly add = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-this.#keptBytes)]).subarray(-this.#keptBytes);
  };

  /** Without colours and other control characters; of lines that were overwritten, as of progress bars, the last. */
  get text(): string {
    const bytes = this.#mask().subarray(-mostBytes);
    const start = bytes.findIndex((byte) => byte >> 6 !== 0b10);
    const stars = '*'.repeat(this.#secret.length);
    const lines = stripVTControlCharacters(bytes.subarray(Math.max(start, 0)).toString())
      .replaceAll(stars || '***', '***')
      .trimEnd()
      .split(/\r?\n/);
    return lines
      .slice(-mostLines)
      .map((line) => line.slice(line.trimEnd().lastIndexOf('\r') + 1).replaceAll(/[^\P{Cc}\t]/gu, ''))
      .join('\n');
  }

  /** As long as before, so that the same bytes are cut off. */
  #mask(): Buffer {
    if (this.#secret === '') return this.#bytes;
    const text = this.#bytes.toString('latin1').replaceAll(this.#secret, '*'.repeat(this.#secret.length));
    return Buffer.from(text, 'latin1');
  }
}
