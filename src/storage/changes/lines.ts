import { newline } from '../journal/read/lines.ts';

/** The lines of a stream of bytes, with their ends; the last one may have none. Throws a RangeError for a longer line. */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of source) {
    let at = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, at)) {
      const line = chunk.subarray(at, end + 1);
      yield parts.length === 0 ? line : Buffer.concat([...parts, line]);
      parts = [];
      length = 0;
      at = end + 1;
    }
    if (at === chunk.length) continue;
    parts.push(chunk.subarray(at));
    length += chunk.length - at;
    if (length > maxBytes) throw new RangeError(`a line is longer than ${maxBytes} bytes`);
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}
