import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { root } from '../../../scripts/install.mjs';
import { limits } from './limits.mjs';
import { findLogProblems } from './log-calls.mjs';
import { logLines } from './log-lines.mjs';

/**
 * Writes the blocks `<!-- NAME:begin -->` … `<!-- NAME:end -->` in the documents from the code. With --check, compares
 * them instead.
 */
const documents = readdirSync(`${root}/docs`, { recursive: true }).filter((path) => path.endsWith('.md'));
const load = (path) => import(`../../../${path}.ts`);

// Node 20 cannot strip types.
if (!process.features.typescript) await import('tsx');

const { cimClasses } = await load('src/features/commands/cim-classes');
const { describeCommands } = await load('src/features/commands/policy');
const { listCommands } = await load('src/cli/commands');
const { groupSettings, listExitCodes, describeReads, toFlagRows, toSynopsis } = await load('tools/texts/help');
const { rights } = await load('src/auth/rights');
const { features } = await load('src/features/index');
const { listProfiles } = await load('src/kit/listing');
const { settingsSchema, startApp } = await load('test/support/app');
const { samples } = await load('test/support/alert-samples');
const { readRecords } = await load('test/support/alerts');
const { resolveReferences } = await load('test/support/openapi');

const code = (text) => (text === undefined ? '' : `\`${text}\``);
const codes = (values) => values.map(code).join(', ');
const toRow = (cells) => `|${cells.map((cell) => String(cell ?? '').replaceAll('|', '\\|')).join('|')}|`;
const toTable = (heads, rows, title) => {
  const head = [`|${heads}|`, `|${heads.replace(/[^|]+/g, '---')}|`];
  return [...(title ? [`### ${title}`, ''] : []), ...(rows.length > 0 ? [...head, ...rows.map(toRow), ''] : [])];
};

/** Describes the values that a schema allows: `1 to 300`. */
const toValues = ({ type, enum: words, minimum, maximum, maxLength, items, maxItems, anyOf }) => {
  if (words) return codes(words);
  if (anyOf) return [...new Set(anyOf.map(toValues))].join(' or ');
  if (type === 'array')
    return `list of ${maxItems ? `at most ${maxItems}: ` : ''}${toValues(items ?? {}) ?? 'any values'}`;
  if (minimum !== undefined) return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`;
  if (maxLength) return `text, up to ${maxLength} characters`;
  return { string: 'text', boolean: 'switch' }[type] ?? type;
};

const toField = (name, schema, isRequired = false) => {
  const { description = '', default: value } = schema;
  const meaning = isRequired ? `Required. ${description}`.trim() : description;
  return [code(name), toValues(schema), value?.length === 0 ? '' : code(value), meaning];
};
const toFields = ({ properties = {}, required = [] } = {}) =>
  Object.entries(properties).map(([name, schema]) => toField(name, schema, required.includes(name)));

/** Creates a valid value from the schema's examples. */
const toExample = ({ examples, default: standard, enum: words, const: only, anyOf, type, items, properties = {} }) => {
  const [known] = examples ?? words ?? [only ?? standard];
  if (known !== undefined) return known;
  if (anyOf) return toExample(anyOf[0]);
  if (type === 'array') return items ? [toExample(items)] : [];
  if (type === 'string') return 'text';
  return Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, toExample(schema)]));
};

/** Lists the fields of a shape that have a description, including nested fields. */
const listFields = ({ items, anyOf = [], properties = {} }, prefix = '') => [
  ...(items ? listFields(items, `${prefix}[]`) : []),
  ...anyOf.flatMap((schema) => listFields(schema, prefix)),
  ...Object.entries(properties).flatMap(([key, schema]) => {
    const name = prefix ? `${prefix}.${key}` : key;
    return [...(schema.description ? [[code(name), schema.description]] : []), ...listFields(schema, name)];
  }),
];

const describeResponse = (name, shape, seen) => {
  const text = JSON.stringify(shape);
  if (shape === undefined) return [];
  if (seen.has(text)) return [`The response is that of \`${seen.get(text)}\`.`, ''];
  seen.set(text, name);
  return [...toTable('response|meaning', listFields(shape)), '```json', JSON.stringify(toExample(shape)), '```', ''];
};

const describeRoute = ({ method, path, access, summary }, { parameters = [], requestBody, responses }, seen) => {
  const body = requestBody?.content['application/json']?.schema;
  const statuses = Object.keys(responses).filter((status) => status !== 'default');
  const toParameter = ({ name, schema, description, required }) => toField(name, { ...schema, description }, required);
  const listIn = (place) => parameters.filter((parameter) => parameter.in === place).map(toParameter);
  return [
    `## ${method} ${path}\n\n${summary}. Access: ${access}. Statuses: ${statuses.join(', ')}.\n`,
    ...['query', 'header'].flatMap((place) => toTable(`${place}|value|default|meaning`, listIn(place))),
    ...toTable('body|value|default|meaning', toFields(body)),
    ...describeResponse(`${method} ${path}`, responses[statuses[0]].content?.['application/json']?.schema, seen),
  ];
};

/** The address of the repository is given only in package.json. */
const { repository, name: folder } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'));
const clone = ['```sh', `git clone ${repository.url.replace('git+', '')}`, `cd ${folder}`, '```', ''];

const cleanups = [];
const start = (settings) => startApp({ after: (cleanup) => cleanups.push(cleanup) }, { settings });

/** Describes the routes of each profile, using a server that mounts each profile separately. */
const describeProfiles = async (profiles) => {
  const mounts = Object.fromEntries(profiles.map(({ name }) => [`/${name}`, [name]]));
  const settings = { store: 'postgres://127.0.0.1:1/none', timeZone: 'UTC', mounts };
  const app = await start(settings);
  const { paths } = resolveReferences((await app.request('GET', '/openapi.json')).json);
  const { text } = await app.request('GET', '/metrics/metrics');
  const metrics = text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm);
  const toMetric = ([, name, help, type]) => [code(name), type, help];
  const described = app.mounts.map(({ base, profiles: mounted }) => {
    const { name, routes } = mounted.find((profile) => base === `/${profile.name}`);
    const seen = new Map();
    const named = routes.map((route) => ({ ...route, path: route.path.replace(/:(\w+)/g, '{$1}') }));
    const describe = (route) => describeRoute(route, paths[base + route.path][route.method.toLowerCase()], seen);
    return [`routes-${name}`, named.flatMap(describe)];
  });
  return [...described, ['metrics', toTable('name|type|meaning', [...metrics].map(toMetric))]];
};

/** Fields of a stored alert that are shown on the pages of senders. */
const shown = ['source', 'level', 'message', 'hostname', 'status', 'fingerprint', 'startsAt', 'labels', 'link'];

/** Returns the stored alerts for the samples of each format: the first alert of each sample. */
const describeSamples = async () => {
  const app = await start({ timeZone: 'UTC' });
  for (const [name, body] of Object.entries(samples)) await app.request('POST', `/api/alert/${name}`, { body });
  const toBlock = (record) => [
    '```json',
    JSON.stringify(record, shown.concat(Object.keys(record.labels)), 2),
    '```',
    '',
  ];
  return (await readRecords(app)).reverse().map((record) => [`sample-${record.format}`, toBlock(record)]);
};

/** Describes a command of the program by its help. */
const describeCommand = (command) => {
  const { name, summary, details = [], flags = {}, variables = {} } = command;
  const rows = [...toFlagRows(flags), ...Object.entries(variables)].map(([left, right]) => [code(left), right]);
  const codes = listExitCodes(command).map(([left, right]) => `${left}: ${right}`);
  return [
    `### ${name}\n\n\`${toSynopsis(command)}\`\n`,
    ...[summary, ...details, ...describeReads(command)].map((paragraph) => `${escapeMarkup(paragraph)}\n`),
    ...toTable('flag or variable|meaning', rows),
    `Exit codes: ${codes.join('; ')}.\n`,
  ];
};
const escapeMarkup = (text) => text.replace(/[*_<]/g, '\\$&');

/** Writes a limit after finding its figures in the code. */
const toLimit = ([name, value, effect, ...sources]) => {
  for (const [file, line] of sources) {
    if (readFileSync(`${root}/${file}`, 'utf8').includes(line)) continue;
    throw new Error(
      `tools/docs/reference/limits.mjs: ${file} does not have "${line}" any more, for the limit "${name}"`,
    );
  }
  return [name, value, effect];
};

/** Writes `warn first`, info `second`: the level of the first message has a separate column. */
const toLogLine = ({ messages, meaning }) => {
  const named = messages.map((message) => [message.slice(0, message.indexOf(' ')), message.replace(/^\w+ /, '')]);
  const [[level]] = named;
  const shown = named.map(([own, text]) => (own === level ? code(text) : `${own} ${code(text)}`));
  return [level, shown.join(', '), meaning];
};

const logProblems = findLogProblems(logLines);
if (logProblems.length > 0) throw new Error(logProblems.join('\n'));

const toRight = ([name, { title, roles, scopes }]) => [code(name), title, roles.join(', '), codes(scopes)];

const profiles = listProfiles(features);
const toClass = ([name, { properties }]) => [code(name), codes(properties)];
const toProfile = ({ name, aliases = [], mounts = [], summary }) => [
  `[${name}](${name}.md)`,
  aliases.join(', '),
  codes(mounts),
  summary,
];
const { properties: settings } = settingsSchema;
const toSetting = ({ key, flag, variable }) => [code(flag), code(variable), ...toField(key, settings[key])];
const settingHeads = 'flag|variable|key|value|default|meaning';
const tables = {
  ...Object.fromEntries([...(await describeProfiles(profiles)), ...(await describeSamples())]),
  clone,
  limits: toTable('limit|value|at the limit', limits.map(toLimit)),
  log: toTable('level|`msg` begins with|meaning', logLines.map(toLogLine)),
  profiles: toTable('profile|other names|default mount|what it is', profiles.map(toProfile)),
  settings: groupSettings(settingsSchema, features).flatMap((group) =>
    toTable(settingHeads, group.settings.map(toSetting), group.title),
  ),
  destination: toTable('key|value|default|meaning', toFields(settings.destinations.items)),
  'command-line': (await listCommands()).flatMap(describeCommand),
  commands: describeCommands().flatMap(({ name, parameters }) =>
    toTable('parameter|value|default|meaning', toFields(parameters), name),
  ),
  rights: toTable('right|what it allows|roles|scopes of keys', Object.entries(rights).map(toRight)),
  classes: toTable('class|properties', Object.entries(cimClasses).map(toClass)),
};

for (const cleanup of cleanups) await cleanup();

for (const path of documents) {
  const before = readFileSync(`${root}/docs/${path}`, 'utf8');
  const block = /(<!-- ([\w-]+):begin -->\n).*?(<!-- \2:end -->)/gs;
  const after = before.replace(block, (_, begin, name, end) => `${begin}\n${tables[name].join('\n')}\n${end}`);
  if (after === before) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`docs/${path} is out of date: run node tools/docs/reference/tables.mjs\n`);
    process.exitCode = 1;
  } else writeFileSync(`${root}/docs/${path}`, after);
}
