import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Type from 'typebox';
import { loadSettings } from './load.ts';
import { createSettingsSchema } from './schema.ts';
import { SettingsError } from './settings-error.ts';

const schema = createSettingsSchema([
  { users: Type.Optional(Type.Array(Type.Object({ name: Type.String() }))) },
  { retries: Type.Integer({ minimum: 1, default: 3 }) },
]);

const writeConfig = (t: TestContext, content: string | Uint8Array): string => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-config-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'settings.json');
  writeFileSync(path, content);
  return path;
};

const problemsOf = (run: () => unknown): readonly string[] => {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    assert.equal(error.message, error.problems.join('; '));
    return error.problems;
  }
  return assert.fail('no problem was found');
};

test('a setting that is not given has its default, or is absent', () => {
  const settings = loadSettings(schema, {}, {});
  assert.equal(settings.port, 8080);
  assert.equal(settings.host, '127.0.0.1');
  assert.equal(settings['retries'], 3);
  assert.equal('seed' in settings, false);
});

test('flags win over variables, variables over the file, the file over defaults', (t) => {
  const config = writeConfig(t, '{"$schema": "x", "port": 1, "host": "a", "jwtIssuer": "file"}');
  const variables = { SIGNALBOX_CONFIG: config, SIGNALBOX_PORT: '2', SIGNALBOX_HOST: 'b' };
  const settings = loadSettings(schema, { port: '3' }, variables);
  assert.deepEqual([settings.port, settings.host, settings.jwtIssuer], [3, 'b', 'file']);
});

test('an empty variable counts as not set', () => {
  assert.equal(loadSettings(schema, {}, { SIGNALBOX_PORT: '', SIGNALBOX_CONFIG: '' }).port, 8080);
});

test('a secret can be given by variable and file, never by flag', () => {
  const settings = loadSettings(schema, { jwtSecret: 'flag' }, { SIGNALBOX_JWT_SECRET: 'variable' });
  assert.equal(settings.jwtSecret, 'variable');
});

test('a variable for a setting that only the file can hold is refused', () => {
  const variables = { SIGNALBOX_MOUNTS: '{}', SIGNALBOX_USERS: '[]' };
  assert.deepEqual(
    problemsOf(() => loadSettings(schema, {}, variables)),
    [
      'SIGNALBOX_MOUNTS has no effect: set mounts in the config file',
      'SIGNALBOX_USERS has no effect: set users in the config file',
    ],
  );
  assert.equal(loadSettings(schema, {}, { SIGNALBOX_MOUNTS: '' }).mounts, undefined);
});

test('an unknown variable is warned about, without its value', () => {
  const warnings: string[] = [];
  const variables = {
    SIGNALBOX_RETIRES: 'hush',
    SIGNALBOX_COLOUR: 'red',
    signalbox_port: '',
    PORT: '1',
    SIGNALBOX_PORT: '2',
  };
  assert.equal(loadSettings(schema, {}, variables, (warning) => warnings.push(warning)).port, 2);
  assert.deepEqual(warnings, [
    'the variable SIGNALBOX_RETIRES is not a setting and is ignored; did you mean SIGNALBOX_RETRIES?',
    'the variable SIGNALBOX_COLOUR is not a setting and is ignored',
    'the variable signalbox_port is not a setting and is ignored; did you mean SIGNALBOX_PORT?',
  ]);
});

test('a flag --config without a name is refused', () => {
  assert.deepEqual(
    problemsOf(() => loadSettings(schema, { config: '', port: 'x' }, {})),
    ['--config must name a file, not ""', '--port must be a whole number from 0 to 65535, not "x"'],
  );
});

test('all problems are reported together, each with its place and the allowed values', (t) => {
  const config = writeConfig(t, '{"colour": 1, "cors": "perhaps", "users": [{"name": 5}, {}], "retries": 0}');
  const variables = { SIGNALBOX_LOG_LEVEL: 'loud', SIGNALBOX_JWT_SECRET: '', SIGNALBOX_HOTS: 'x' };
  const flags = { port: '70000', host: '', config };
  assert.deepEqual(
    problemsOf(() => loadSettings(schema, flags, variables)),
    [
      `${config} has no setting called "colour"`,
      '--host must be a non-empty string, not ""',
      '--port must be a whole number from 0 to 65535, not 70000',
      `cors in ${config} must be true or false, not "perhaps"`,
      'SIGNALBOX_LOG_LEVEL must be one of silent, fatal, error, warn, info, debug, trace, not "loud"',
      `users in ${config} at 0.name must be a string`,
      `users in ${config} at 1 must have name`,
      `retries in ${config} must be a whole number of at least 1, not 0`,
      'the variable SIGNALBOX_HOTS is not a setting and is ignored; did you mean SIGNALBOX_HOST?',
    ],
  );
});

test('an invalid value of a secret is not repeated', (t) => {
  const config = writeConfig(t, '{"jwtSecret": 5}');
  const [problem] = problemsOf(() => loadSettings(schema, { config }, {}));
  assert.equal(problem, `jwtSecret in ${config} must be a non-empty string`);
});

test('a list with values other than names is refused', (t) => {
  const config = writeConfig(t, '{"profiles": "T", "allowedHosts": [""]}');
  assert.deepEqual(
    problemsOf(() => loadSettings(schema, { config }, {})),
    [`profiles in ${config} must be a list of names, not "T"`, `allowedHosts in ${config} at 0 must not be empty`],
  );
});

test('an error message does not repeat text that is not JSON, because the text may be a secret', (t) => {
  for (const text of ['{"jwtSecret": hush}', '{"jwtSecret": "hush" hush}', '{"jwtSecret": "hush', 'hush']) {
    const [problem = ''] = problemsOf(() => loadSettings(schema, { config: writeConfig(t, text) }, {}));
    assert.match(
      problem,
      /: the file is not valid JSON at line 1, column \d+: (?:expected [a-z",}\]: ]+|a string without a closing quote, or with [a-z ]+)$/,
    );
    assert.equal(problem.includes('hush'), false);
  }
});

test('a file that cannot be used is named, with the reason', (t) => {
  const folder = join(writeConfig(t, ''), '..');
  const reasonFor = (config: string) => problemsOf(() => loadSettings(schema, { config }, {}))[0];
  assert.equal(reasonFor('/no/such.json'), 'cannot read the config file /no/such.json: the file does not exist');
  assert.equal(reasonFor(folder), `cannot read the config file ${folder}: the path is a folder`);
  const list = writeConfig(t, '[]');
  assert.equal(reasonFor(list), `the config file ${list} must contain one JSON object`);
  assert.match(
    reasonFor(writeConfig(t, '{"a":')) ?? '',
    /cannot read the config file .*: the file is not valid JSON at line 1, column 6: expected a value$/,
  );
  assert.match(reasonFor(writeConfig(t, `"${'x'.repeat(20_000_000)}`)) ?? '', /: the file is not valid JSON$/);
  assert.match(reasonFor(writeConfig(t, new Uint8Array([0x7b, 0xff]))) ?? '', /the file is not valid UTF-8$/);
});
