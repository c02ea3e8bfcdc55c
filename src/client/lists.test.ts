import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readEntries } from './streams.ts';

/** Creates a response whose body arrives in pieces of these lengths, repeatedly. */
const toResponse = (text: string, lengths: number[]): Response => {
  const bytes = new TextEncoder().encode(text);
  let sent = 0;
  let count = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (sent >= bytes.length) return controller.close();
    const length = lengths[count++ % lengths.length] ?? 1;
    controller.enqueue(bytes.slice(sent, sent + length));
    sent += length;
  };
  return new Response(new ReadableStream({ pull }));
};

const read = async (response: Response): Promise<unknown[]> => {
  const entries: unknown[] = [];
  for await (const entry of readEntries('GET /list', response, {})) entries.push(entry);
  return entries;
};

const object = fc
  .dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }))
  .map((value) => JSON.parse(JSON.stringify(value)));
const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });

test('the objects of a list are those that JSON.parse finds, wherever its pieces end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(object), fc.boolean(), fc.nat(2), lengths, async (list, isWhole, space, pieces) => {
      const body = isWhole ? list : { user: 'a "name" \\', count: list.length, data: list, next: null };
      assert.deepEqual(await read(toResponse(JSON.stringify(body, null, space), pieces)), list);
    }),
  );
});

test('a list that ends early is an error, wherever it ends', async () => {
  const text = JSON.stringify({ count: 2, data: [{ message: 'a \\ "b"' }, { message: 'c', labels: { d: ['e'] } }] });
  for (let length = 1; length < text.length; length += 1) {
    await assert.rejects(read(toResponse(text.slice(0, length), [7])), { code: 'connection' }, text.slice(0, length));
  }
});
