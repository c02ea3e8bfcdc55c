import { resolve } from 'node:path';

/**
 * A node:test reporter: one line of JSON for each finished test, one with the reason of each that was skipped, those
 * within tests too, and one with the duration of each file.
 */
export default async function* reportResults(events) {
  for await (const { type, data } of events) {
    const { name, file, nesting, skip, details } = data;
    if (type === 'test:pass' && skip) yield toLine({ file, name, skipped: skip === true ? 'no reason' : skip });
    if (nesting !== 0 || file === undefined) continue;
    const isFile = resolve(name ?? '') === file;
    if (type === 'test:complete' && isFile) yield toLine({ file, seconds: details.duration_ms / 1000 });
    if (type === 'test:pass' && !isFile) yield toLine({ file, name, outcome: skip ? 'skipped' : 'passed' });
    if (type === 'test:fail' && !isFile) yield toLine({ file, name, outcome: 'failed' });
  }
}

const toLine = (value) => `${JSON.stringify(value)}\n`;
