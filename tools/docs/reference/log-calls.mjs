import { readdirSync, readFileSync } from 'node:fs';
import { parseSync } from '@swc/core';
import { root } from '../../../scripts/install.mjs';

const levels = ['fatal', 'error', 'warn', 'info', 'debug'];
/** Names under which source files hold the log. */
const logNames = ['log', 'report'];
/** Functions that pass their last argument on as the message of a warning. */
const warnNames = ['warn'];

const toName = (node) => {
  if (node?.type === 'MemberExpression') return toName(node.property);
  return ['Identifier', 'PrivateName'].includes(node?.type) ? node.value : undefined;
};

/** Calls a function with each node of a syntax tree. */
const walk = (node, visit) => {
  if (typeof node?.type === 'string') visit(node);
  for (const each of Object.values(node)) if (typeof each === 'object' && each !== null) walk(each, visit);
};

/** Returns the text of an expression, with `...` for each variable part. */
const toText = (node, constants) => {
  if (node.type === 'StringLiteral') return node.value;
  if (node.type !== 'TemplateLiteral') return constants.get(node.value) ?? '...';
  const parts = (node.expressions ?? []).map((each) => toText(each, constants));
  return node.quasis.map(({ cooked }, index) => cooked + (parts[index] ?? '')).join('');
};

/** Returns the level of a call of the log. Undefined for other calls. */
const findLevel = ({ callee }) => {
  const name = toName(callee);
  if (callee.type === 'MemberExpression' && levels.includes(name) && logNames.includes(toName(callee.object)))
    return name;
  return warnNames.includes(name) && toName(callee.object) === undefined ? 'warn' : undefined;
};

/** Returns the texts of constants by name: exported constants of all files, or all constants of one file. */
const readConstants = (nodes) => {
  const constants = new Map();
  for (const { type, id, init } of nodes) {
    if (type === 'VariableDeclarator' && ['StringLiteral', 'TemplateLiteral'].includes(init?.type))
      constants.set(id.value, toText(init, constants));
  }
  return constants;
};

const listNodes = (tree) => {
  const nodes = [];
  walk(tree, (node) => nodes.push(node));
  return nodes;
};

/**
 * Reads the syntax trees of src. Returns the calls of the log (`warn outbox: ...`), without calls whose whole message
 * is a variable, and all texts.
 */
const readSources = () => {
  const trees = readdirSync(`${root}/src`, { recursive: true })
    .filter((path) => path.endsWith('.ts') && !/\.(test|d)\.ts$/.test(path))
    .map((path) => parseSync(readFileSync(`${root}/src/${path}`, 'utf8'), { syntax: 'typescript' }));
  const exported = readConstants(
    trees.flatMap(({ body }) =>
      body.flatMap(({ type, declaration }) => (type === 'ExportDeclaration' && declaration.declarations) || []),
    ),
  );
  const [texts, calls] = [new Set(), new Set()];
  for (const nodes of trees.map(listNodes)) {
    const constants = new Map([...exported, ...readConstants(nodes)]);
    for (const node of nodes) {
      if (['StringLiteral', 'TemplateLiteral'].includes(node.type)) texts.add(toText(node, constants));
      const level = node.type === 'CallExpression' ? findLevel(node) : undefined;
      const text = level && node.arguments.length > 0 ? toText(node.arguments.at(-1).expression, constants) : '...';
      if (text !== '...') calls.add(`${level} ${text}`);
    }
  }
  return { calls: [...calls], texts: [...texts] };
};

/** Returns the pattern of texts that begin with a text, in which `...` stands for any text. */
const toPattern = (text) =>
  new RegExp(
    `^${text
      .split('...')
      .map((part) => part.replaceAll(/[^\w ]/g, '\\$&'))
      .join('.*')}`,
    's',
  );

/** True if a call and a listed message can be the same. The part of a call after a semicolon is not listed. */
const agree = (call, message) => toPattern(message).test(call) || toPattern(call.split(';')[0]).test(message);

/**
 * Returns the differences between the listed messages and the messages that src logs, as sentences. Rows with
 * `isOfLogs` list events that each log reports under its own title.
 */
export const findLogProblems = (logLines) => {
  const { calls, texts } = readSources();
  const listed = logLines.flatMap(({ messages }) => messages);
  const checked = logLines.filter(({ isOfLogs }) => !isOfLogs).flatMap(({ messages }) => messages);
  const titled = calls.filter((call) => !call.endsWith(' ...: ...'));
  const isUsed = (message) =>
    titled.some((call) => agree(call, message)) ||
    texts.some((text) => toPattern(message.slice(message.indexOf(' ') + 1)).test(text));
  return [
    ...calls
      .filter((call) => !listed.some((message) => agree(call, message)))
      .map((call) => `log-lines.mjs has no row for: ${call}`),
    ...checked
      .filter((message) => !isUsed(message))
      .map((message) => `log-lines.mjs has a row that nothing logs: ${message}`),
  ];
};
