/**
 * JSON as text. Values are never parsed and written again, because that changes numbers with many digits.
 */

/** Deeper levels are not indented further. */
const deepest = 24;

export const isJson = (text) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The start of a string, a bracket, comma or colon, or a number or word. */
const start = /["{}[\],:]|[^\s"{}[\],:]+/g;

/** The tokens of a JSON text as `[token, index]`. One pattern for whole strings would overflow the stack on long ones. */
const listTokens = function* (text) {
  start.lastIndex = 0;
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const { 0: found, index } = match;
    const end = found === '"' ? findStringEnd(text, index) : start.lastIndex;
    yield [text.slice(index, end), index];
    start.lastIndex = end;
  }
};

const findStringEnd = (text, from) => {
  let end = text.indexOf('"', from + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end + 1;
};

/** True after an odd number of backslashes. */
const isEscaped = (text, index) => {
  let first = index;
  while (text[first - 1] === '\\') first -= 1;
  return (index - first) % 2 === 1;
};

/** Valid JSON on one line, without spaces. */
export const compactJson = (text) => Array.from(listTokens(text), ([token]) => token).join('');

/** Valid JSON with a line for each member. */
export const formatJson = (text) => {
  let out = '';
  let depth = 0;
  let isEmpty = false;
  const newLine = () => `\n${'  '.repeat(Math.min(depth, deepest))}`;
  for (const [part] of listTokens(text)) {
    const isEnd = part === '}' || part === ']';
    if (isEnd) depth -= 1;
    if (isEnd !== isEmpty) out += newLine();
    isEmpty = part === '{' || part === '[';
    if (isEmpty) depth += 1;
    if (part === ',') out += `,${newLine()}`;
    else out += part === ':' ? ': ' : part;
  }
  return out;
};

/** The parts of a JSON text for colouring: `{ text, kind }`, where kind is `key`, `text`, `value` or undefined. */
export const splitJson = (text) => {
  const parts = [];
  let last = 0;
  for (const [part, index] of listTokens(text)) {
    if ('{}[],:'.includes(part)) continue;
    if (index > last) parts.push({ text: text.slice(last, index) });
    last = index + part.length;
    const isKey = part.startsWith('"') && text[last] === ':';
    parts.push({ text: part, kind: isKey ? 'key' : part.startsWith('"') ? 'text' : 'value' });
  }
  if (last < text.length) parts.push({ text: text.slice(last) });
  return parts;
};
