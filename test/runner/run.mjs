import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { inspect } from 'node:util';

/**
 * Runs modules with node:test, each in a process with this process's flags, and prints the tests. Takes `{files,
 * concurrency, timeout}` from the parent process, and sends it tests `{file, name, state, text}`; the state is passed,
 * failed or skipped, and the text is the error or the reason for skipping.
 */
process.once('message', (options) => {
  const tests = [];
  const add = (state, { name, file = name }, text) => tests.push({ file, name, state, text });
  const events = run({ ...options, execArgv: process.execArgv });
  events.on('test:pass', ({ skip, ...test }) =>
    add(skip ? 'skipped' : 'passed', test, skip === true ? 'no reason' : `${skip}`),
  );
  events.on('test:fail', (test) => add('failed', test, inspect(test.details.error.cause ?? test.details.error)));
  events.on('test:diagnostic', ({ message, file }) => {
    if (message.includes('asynchronous activity after')) add('failed', { file, name: 'the tests end' }, message);
  });
  events.on('end', () => process.send(tests, () => process.disconnect()));
  events.compose(new spec()).pipe(process.stdout);
});
