import { resolve } from 'node:path';

/** A reporter of node:test: one line of JSON for each test that ended, and for each file how long it took. */
export default async function* reportResults(events) {
  for await (const { type, data } of events) {
    const { name, file, nesting, skip, details } = data;
    if (nesting !== 0 || file === undefined) continue;
    const isFile = resolve(name ?? '') === file;
    if (type === 'test:complete' && isFile) yield toLine({ file, seconds: details.duration_ms / 1000 });
    if (type === 'test:pass' && !isFile) yield toLine({ file, name, outcome: skip ? 'skipped' : 'passed' });
    if (type === 'test:fail' && !isFile) yield toLine({ file, name, outcome: 'failed' });
  }
}

const toLine = (value) => `${JSON.stringify(value)}\n`;
