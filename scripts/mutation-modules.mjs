const inFolder = (folder, names) => names.map((name) => `${folder}/${name}.ts`);

const commands = 'src/profiles/commands';
const journal = 'src/storage/journal';
const request = 'src/http/request';
const auth = 'src/auth';

const journalTests = [
  ...inFolder(journal, [
    'aging.test',
    'damage.test',
    'failure.test',
    'journal.test',
    'model.test',
    'options.test',
    'rotation.test',
  ]),
  ...inFolder(`${journal}/format`, ['line.test', 'parse.test']),
  ...inFolder(`${journal}/write`, ['queue.test', 'segment-store.test', 'writer.test']),
  ...inFolder(`${journal}/read`, ['backwards.test', 'listing.test', 'runs.test']),
  ...inFolder(`${journal}/files`, [...['free-space.test', 'lock.test', 'names.test', 'retention.test', 'sync.test']]),
];

/** The modules that mutation testing covers: their sources, and the tests that must notice a change in them. */
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
    mutate: [
      ...inFolder(journal, ['errors', 'journal', 'options', 'scheduling']),
      ...inFolder(`${journal}/format`, ['line', 'parse']),
      ...inFolder(`${journal}/read`, ['backwards', 'found', 'last-seq', 'listing', 'log', 'runs']),
      ...inFolder(`${journal}/write`, ['queue', 'writer']),
    ],
    tests: journalTests,
  },
  'journal-files': {
    mutate: [
      ...inFolder(`${journal}/files`, [...['directory', 'free-space', 'lock', 'names', 'repair', 'retention', 'sync']]),
      ...inFolder(`${journal}/write`, ['active-file', 'segment-store']),
    ],
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
      ...inFolder(auth, ['claims.test', 'decode.test', 'keys.test', 'token.test', 'password.test', 'guard.test']),
    ],
  },
};
