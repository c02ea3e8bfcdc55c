import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

/** Writes the table of parameters into docs/commands.md from the policy; --check fails if it is out of date. */
const target = join(root, 'docs', 'commands.md');
const markers = ['<!-- commands:begin -->', '<!-- commands:end -->'];

const listCode = (words) => words.map((word) => `\`${word}\``).join(', ');

/** The allowed values; empty if the description lists them. */
const toValues = ({ type, enum: words, minimum, maximum, minLength, maxLength }) => {
  if (words) return listCode(words);
  if (type === 'integer') return `${minimum} to ${maximum}`;
  if (type === 'boolean') return 'a switch, without a value';
  return maxLength === undefined ? '' : `${minLength} to ${maxLength} characters`;
};

const toRow = (command, name, { parameters: { properties, required = [], allOf = [] } }) => {
  const { description, maxItems, items, default: standard, ...value } = properties[name];
  const pair = allOf.map(({ not }) => not.required).find((names) => names.includes(name)) ?? [];
  const values = [toValues(items ?? value), maxItems && `up to ${maxItems} values`];
  const notes = [
    description,
    required.includes(name) && 'Required.',
    standard !== undefined && `${standard} if not given.`,
    ...pair.filter((other) => other !== name).map((other) => `Not with \`${other}\`.`),
  ];
  const cells = [`\`${command}\``, `\`${name}\``, values.filter(Boolean).join('; '), notes.filter(Boolean).join(' ')];
  return `|${cells.map((cell) => cell.replaceAll('|', '\\|')).join('|')}|`;
};

await prepare();
const { describeCommands } = await import('../dist/src/profiles/commands/policy/command-schemas.js');
const table = [
  '|command|parameter|values|notes|',
  '|---|---|---|---|',
  ...describeCommands().flatMap((command) =>
    Object.keys(command.parameters.properties).map((name) => toRow(command.name, name, command)),
  ),
];
const before = readFileSync(target, 'utf8');
const [start, end] = markers.map((marker) => before.indexOf(marker));
const text =
  start < 0 || end < start
    ? undefined
    : [before.slice(0, start) + markers[0], '', ...table, '', before.slice(end)].join('\n');
const problem =
  text === undefined
    ? `docs/commands.md has no place for the table between ${markers.join(' and ')}`
    : process.argv.includes('--check') &&
      text !== before &&
      'docs/commands.md is out of date: run node scripts/commands-table.mjs';
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else if (!process.argv.includes('--check')) writeFileSync(target, text);
