import { stripVTControlCharacters } from 'node:util';

const mostBytes = 4096;
const mostLines = 20;

/** The last 20 lines of a program's output, at most 4 KiB. */
export class OutputTail {
  #bytes: Buffer = Buffer.alloc(0);

  readonly add = (chunk: Buffer): void => {
    this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-mostBytes)]).subarray(-mostBytes);
  };

  /** Without colours and other control characters; of lines that were overwritten, as of progress bars, the last. */
  get text(): string {
    const start = this.#bytes.findIndex((byte) => byte >> 6 !== 0b10);
    const lines = stripVTControlCharacters(this.#bytes.subarray(Math.max(start, 0)).toString())
      .trimEnd()
      .split(/\r?\n/);
    return lines
      .slice(-mostLines)
      .map((line) => line.slice(line.trimEnd().lastIndexOf('\r') + 1).replaceAll(/[^\P{Cc}\t]/gu, ''))
      .join('\n');
  }
}
