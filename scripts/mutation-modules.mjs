const inFolder = (folder, names) => names.map((name) => `${folder}/${name}.ts`);

const commands = 'src/profiles/commands';
const journal = 'src/storage/journal';
const request = 'src/http/request';
const auth = 'src/auth';

const journalTests = inFolder(journal, [
  ...['queue.test', 'options.test', 'file-names.test', 'free-space.test', 'retention.test', 'sync.test'],
  ...['segment-store.test', 'line.test', 'lock.test', 'journal.test', 'failure.test', 'read-backwards.test'],
  ...['model.test', 'rotation.test', 'damage.test'],
]);

/** The modules that mutation testing covers: their sources, and the tests that are to notice a change in them. */
export const modules = {
  commands: {
    mutate: inFolder(commands, [
      ...['language/parse', 'language/tokens', 'language/values', 'language/filter', 'language/wildcard'],
      ...['language/refusal', 'policy/check'],
    ]),
    tests: inFolder(commands, [
      ...['language/parse.test', 'language/values.test', 'language/filter.test', 'language/wildcard.test'],
      ...['policy/check.test', 'policy/command-schemas.test'],
    ]),
  },
  journal: {
    mutate: inFolder(journal, [
      ...['journal', 'journal-error', 'last-seq', 'line', 'listing', 'options', 'queue', 'read-backwards'],
      ...['read-log', 'reason', 'serial', 'writer'],
    ]),
    tests: journalTests,
  },
  'journal-files': {
    mutate: inFolder(journal, [
      ...['active-file', 'directory', 'file-names', 'free-space', 'lock', 'repair', 'retention'],
      ...['segment-store', 'shared-handle', 'sync'],
    ]),
    tests: journalTests,
  },
  validation: {
    mutate: [...inFolder(request, ['validation', 'query', 'json-body']), 'src/profiles/tasks/validation.ts'],
    tests: [
      ...inFolder(request, ['validation.test', 'query.test', 'json-body.test']),
      ...['src/profiles/tasks/validation.test.ts', 'test/conformance/bodies.test.ts'],
    ],
  },
  auth: {
    mutate: inFolder(auth, [...['claims', 'decode', 'guard', 'keys', 'password', 'token']]),
    tests: [
      ...inFolder(auth, [
        'claims.test',
        'decode.test',
        'keys.test',
        'token.test',
        'password.test',
        'guard.test',
      ]),
    ],
  },
};
