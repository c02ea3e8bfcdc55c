const inFolder = (folder, names) => names.map((name) => `${folder}/${name}.ts`);

const commands = 'src/profiles/commands';
const journal = 'src/storage/journal';
const http = 'src/http';
const auth = 'src/auth';

/** The modules that mutation testing covers: their sources, and the tests that are to notice a change in them. */
export const modules = {
  commands: {
    mutate: inFolder(commands, [
      ...['parse', 'tokens', 'check', 'values', 'filter', 'wildcard', 'date', 'names', 'refusal'],
    ]),
    tests: inFolder(commands, [
      ...['parse.test', 'check.test', 'filter.test', 'wildcard.test', 'date.test', 'names.test'],
      'command-schemas.test',
    ]),
  },
  journal: {
    mutate: [`${journal}/*.ts`, `!${journal}/*.test.ts`, `!${journal}/test-*.ts`],
    tests: inFolder(journal, [
      ...['journal.test', 'line.test', 'read-backwards.test', 'lock.test', 'sync.test', 'failure.test'],
      ...['model.test', 'rotation.test', 'damage.test'],
    ]),
  },
  validation: {
    mutate: [...inFolder(http, ['validation', 'query', 'body']), 'src/profiles/tasks/validation.ts'],
    tests: [
      ...inFolder(http, ['validation.test', 'query.test', 'body.test']),
      ...['src/profiles/tasks/validation.test.ts', 'test/conformance/bodies.test.ts'],
    ],
  },
  auth: {
    mutate: inFolder(auth, [
      ...['claims', 'decode', 'guard', 'keys', 'password', 'password-hash', 'token-error', 'token'],
    ]),
    tests: [
      ...inFolder(auth, ['claims.test', 'decode.test', 'keys.test', 'token.test', 'password.test']),
      ...inFolder(auth, ['password-hash.test', 'guard.test']),
    ],
  },
};
