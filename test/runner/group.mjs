import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

/**
 * Runs the test files of the command line in this process, one after the other, once all are loaded. A test of this
 * file, named after the file, precedes the tests of each file, and the test `end` follows the last.
 */
let begin;
const loaded = new Promise((resolve) => (begin = resolve));
for (const file of process.argv.slice(2)) {
  let loading;
  test(file, () => loaded.then(() => loading));
  loading = import(pathToFileURL(file).href);
  await loading.catch(() => undefined);
}
test('end', () => undefined);
begin();
