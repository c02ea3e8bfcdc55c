import { inspect } from 'node:util';

/** Prefix of each line of this reporter: programs that tests start may write to the same output. */
export const mark = '\u0001';

/** Name of the failure of a file outside of its tests. */
export const wholeFile = 'the file runs to its end';

/**
 * Reports for run-tests.mjs, as a node:test reporter: a line of JSON when a test starts `{file, name, state:
 * 'started'}`, and when it ends `{file, name, nesting, state, seconds, text}`. The state is passed, failed or skipped;
 * the text is the error or the reason for skipping. Notes of tests are `{file, note}`, errors outside of tests are
 * `{file, error}`. `file` is the file that group.mjs runs, `end` after the last.
 */
export default async function* report(events) {
  let current = '';
  for await (const { type, data } of events) {
    const isGroup = data.file?.endsWith('runner/group.mjs');
    if (isGroup && type === 'test:dequeue') current = data.name;
    const record = toRecord(type, isGroup || current === 'end' ? { ...data, name: wholeFile } : data);
    const isOwn = isGroup && (record?.state === 'passed' || record?.note !== undefined);
    if (record !== undefined && !isOwn) yield `${mark}${JSON.stringify({ file: current, ...record })}\n`;
  }
}

const toRecord = (type, { name, nesting, message, file, skip, details }) => {
  if (type === 'test:dequeue' && nesting === 0) return { name, state: 'started' };
  if (type === 'test:diagnostic' && message.includes('asynchronous activity after')) return { error: message };
  if (type === 'test:diagnostic' && file !== undefined) return { note: message };
  if (type !== 'test:pass' && type !== 'test:fail') return undefined;
  const seconds = details.duration_ms / 1000;
  if (type === 'test:fail') {
    const { error } = details;
    return { name, nesting, state: 'failed', seconds, text: inspect(error.cause ?? error) };
  }
  if (skip) return { name, nesting, state: 'skipped', seconds, text: skip === true ? 'no reason' : skip };
  return { name, nesting, state: 'passed', seconds };
};
