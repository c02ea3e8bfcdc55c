import { inspect } from 'node:util';

/** Begins each line of this reporter: programs that tests start may write to the same output. */
export const mark = '\u0001';

/**
 * A node:test reporter for run-tests.mjs: a line of JSON when a test starts `{file, name, state: 'started'}`, and when it
 * ends `{file, name, nesting, state, seconds, text}`. The state is passed, failed or skipped, the text the error or why it was
 * skipped. What tests say about themselves is `{file, note}`.
 */
export default async function* report(events) {
  for await (const { type, data } of events) {
    const record = toRecord(type, data);
    if (record !== undefined) yield `${mark}${JSON.stringify(record)}\n`;
  }
}

const toRecord = (type, { file, name, nesting, message, skip, details }) => {
  if (file === undefined || file.endsWith('test-group.mjs')) return undefined;
  if (type === 'test:dequeue' && nesting === 0) return { file, name, state: 'started' };
  if (type === 'test:diagnostic') return { file, note: message };
  if (type !== 'test:pass' && type !== 'test:fail') return undefined;
  const seconds = details.duration_ms / 1000;
  if (type === 'test:fail') {
    const { error } = details;
    return { file, name, nesting, state: 'failed', seconds, text: inspect(error.cause ?? error) };
  }
  if (skip) return { file, name, nesting, state: 'skipped', seconds, text: skip === true ? 'no reason' : skip };
  return { file, name, nesting, state: 'passed', seconds };
};
