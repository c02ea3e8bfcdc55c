import type { Static } from 'typebox';
import Type from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import { unknownHost } from '../../../../kit/alert-record.ts';
import type { Severity } from '../../../../kit/severity.ts';
import { isObject } from '../../../../lib/parse-json.ts';
import { firstText, toScalarText, toSource } from '../fields.ts';
import { defineFormat, formType } from '../format.ts';
import { toLink } from '../links.ts';

const Text = Type.Optional(Type.String());

const levels = new Map<string, Severity>([
  ['danger', 'ERROR'],
  ['warning', 'WARNING'],
  ['good', 'INFO'],
]);

/** Slack Block Kit blocks. Only their text is read. */
const Blocks = Type.Optional(Type.Array(Type.Unknown(), { description: 'Block Kit objects, whose text is read.' }));

type Blocks = readonly unknown[] | undefined;

const Attachment = Type.Object({
  text: Text,
  fallback: Text,
  pretext: Text,
  title: Text,
  color: Type.Optional(Type.String({ examples: [...levels.keys()] })),
  title_link: Text,
  author_name: Text,
  footer: Text,
  fields: Type.Optional(Type.Array(Type.Unknown(), { description: 'Objects with `title` and `value`.' })),
  blocks: Blocks,
});

type Attachments = readonly Static<typeof Attachment>[];

/** Maximum numbers according to Slack's documentation: attachments per message, and blocks per list. */
const maxAttachments = 100;

/**
 * Slack's incoming webhook format, supported by many programs. The body is JSON, or a form with JSON in its field
 * `payload`.
 */
export const slackFormat = defineFormat({
  name: 'slack',
  summary: "Store a message for Slack's incoming webhooks",
  schema: Type.Object(
    {
      text: Type.Optional(Type.String({ examples: ['The disk of web-1 is full'] })),
      username: Text,
      attachments: Type.Optional(Type.Array(Attachment)),
      blocks: Blocks,
    },
    { title: 'SlackMessage' },
  ),
  mediaTypes: [formType],
  recognizes: (value) =>
    isObject(value) && (toScalarText(value['text']) !== '' || isList(value['attachments']) || isList(value['blocks'])),
  decode: ({ contentType, bytes, parseJson }) => {
    // curl sends JSON, too, with the media type of a form.
    if (contentType !== formType || /^\s*[[{]/.test(bytes.toString('latin1', 0, 16))) return undefined;
    const payload = new URLSearchParams(bytes.toString('utf8')).get('payload');
    if (payload === null) throw new HttpError('invalid', 'The form must have the field payload');
    return parseJson(Buffer.from(payload));
  },
  readAlerts: ({ text, username, blocks, attachments: all = [] }) => {
    const attachments = all.slice(0, maxAttachments);
    const message = findText(listTexts(text, blocks, attachments));
    if (message === '')
      throw new HttpError('invalid', 'text, an attachment with text, or a block with text is required');
    const color = firstText(...attachments.map((part) => part.color)).toLowerCase();
    return [
      {
        source: toSource('slack', username),
        level: levels.get(color) ?? 'WARNING',
        message,
        details: findText(listDetails(message, attachments)) || undefined,
        hostname: unknownHost,
        status: 'firing',
        link: toLink(...attachments.map((part) => part.title_link)),
      },
    ];
  },
});

const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** Returns the first text that is not blank. Reads no further texts. */
const findText = (texts: Iterable<string | undefined>): string => {
  for (const text of texts) if (text !== undefined && text.trim() !== '') return text;
  return '';
};

/** Yields strings that could serve as the message, best first. */
function* listTexts(text: string | undefined, blocks: Blocks, attachments: Attachments): Generator<string | undefined> {
  yield text;
  const left = { characters: maxCharacters, elements: maxElements };
  yield readBlocks(blocks, left);
  for (const part of attachments) {
    yield* [part.text, part.fallback, part.title, part.pretext];
    yield readBlocks(part.blocks, left);
  }
  for (const part of attachments) yield readFields(part.fields);
  for (const part of attachments) yield* [part.author_name, part.footer];
}

/** Yields the strings that are not the message. */
function* listDetails(message: string, attachments: Attachments): Generator<string> {
  for (const part of attachments) {
    if (part.text !== undefined && part.text !== message) yield part.text;
    const lines = readFields(part.fields);
    if (lines !== message) yield lines;
  }
}

/** Writes one line for each field of an attachment. */
const readFields = (fields: readonly unknown[] = []): string =>
  fields
    .slice(0, maxAttachments)
    .filter(isObject)
    .map(({ title, value }) => [title, value].map(toScalarText).filter(Boolean).join(': '))
    .filter((line) => line !== '')
    .join('\n');

/** Maximum depth of elements that contain text. */
const maxDepth = 6;

/** Maximum number of characters to read. It is higher than the number stored. */
const maxCharacters = 32_768;

/** Maximum number of elements to read. It is more than Slack accepts in a message. */
const maxElements = 10_000;

/** Number of characters and elements that may still be read from the blocks of a message. */
interface Budget {
  characters: number;
  elements: number;
}

/** Returns the text of the blocks, one block per line. */
const readBlocks = (blocks: Blocks, left: Budget): string =>
  joinTexts(blocks?.slice(0, maxAttachments) ?? [], maxDepth, left, '\n');

const joinTexts = (blocks: readonly unknown[], depth: number, left: Budget, separator: string): string => {
  const texts: string[] = [];
  for (const block of blocks) {
    if (left.characters <= 0 || left.elements <= 0) break;
    const text = readBlock(block, depth, left);
    if (text.trim() !== '') texts.push(text);
  }
  return texts.join(separator);
};

/**
 * Returns the text of a block: first its `text` or a similar member, then the text in its lists. Table rows also count
 * as lists.
 */
const readBlock = (block: unknown, depth: number, left: Budget): string => {
  left.elements -= 1;
  if (depth === 0 || left.elements < 0) return '';
  if (Array.isArray(block)) return joinTexts(block.slice(0, maxAttachments), depth - 1, left, ' ');
  if (!isObject(block)) return '';
  const { text, title, label, alt_text: picture, url, fields, elements, rows } = block;
  const lists = [fields, elements, rows].flatMap((list) => (Array.isArray(list) ? list.slice(0, maxAttachments) : []));
  const own = readOwn([text, title, label, picture, url], depth, left);
  return [own, joinTexts(lists, depth - 1, left, ' ')].filter((each) => each.trim() !== '').join(' ');
};

/** Returns the first string that is not empty. */
const readOwn = (parts: readonly unknown[], depth: number, left: Budget): string => {
  for (const part of parts) {
    const plain = toScalarText(part);
    left.characters -= plain.length;
    const found = plain || readBlock(part, depth - 1, left);
    if (found !== '') return found;
  }
  return '';
};
