import Type from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import { unknownHost } from '../../../alert-record.ts';
import type { Severity } from '../../../severity.ts';
import { defineFormat, findDetails, firstText, formType, isObject, toLink, toSource } from '../format.ts';

const Text = Type.Optional(Type.String());

/** Slack's Block Kit, of which only the texts are read. */
const Blocks = Type.Optional(Type.Array(Type.Unknown()));

/** What Slack accepts. */
const mostAttachments = 100;

const levels = new Map<string, Severity>([
  ['danger', 'ERROR'],
  ['warning', 'WARNING'],
  ['good', 'INFO'],
]);

/** Slack's incoming webhooks, as many programs can call them: JSON, or a form whose field `payload` is JSON. */
export const slackFormat = defineFormat({
  name: 'slack',
  summary: "Store a message sent as to Slack's incoming webhooks",
  schema: Type.Object(
    {
      text: Type.Optional(Type.String({ examples: ['The disk of web-1 is full'] })),
      username: Text,
      attachments: Type.Optional(
        Type.Array(
          Type.Object({
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
          }),
        ),
      ),
      blocks: Blocks,
    },
    { title: 'SlackMessage' },
  ),
  mediaTypes: [formType],
  recognizes: (value) =>
    isObject(value) && (toPlain(value['text']) !== '' || isList(value['attachments']) || isList(value['blocks'])),
  decode: ({ contentType, bytes, parseJson }) => {
    // curl labels JSON as a form, too.
    if (contentType !== formType || /^\s*[[{]/.test(bytes.toString('latin1', 0, 16))) return undefined;
    const payload = new URLSearchParams(bytes.toString('utf8')).get('payload');
    if (payload === null) throw new HttpError('invalid', 'The form must have the field payload');
    return parseJson(Buffer.from(payload));
  },
  readAlerts: ({ text, username, blocks, attachments: all = [] }) => {
    const attachments = all.slice(0, mostAttachments);
    const message = firstText(
      text,
      readBlocks(blocks),
      ...attachments.flatMap((part) => [part.text, part.fallback, part.title, part.pretext, readBlocks(part.blocks)]),
      ...attachments.map((part) => readFields(part.fields)),
      ...attachments.flatMap((part) => [part.author_name, part.footer]),
    );
    if (message === '') throw new HttpError('invalid', 'text is required, or an attachment or a block with text');
    const color = firstText(...attachments.map((part) => part.color)).toLowerCase();
    return [
      {
        source: toSource('slack', username),
        level: levels.get(color) ?? 'WARNING',
        message,
        details: findDetails(message, ...attachments.flatMap((part) => [part.text, readFields(part.fields)])),
        hostname: unknownHost,
        status: 'firing',
        link: toLink(...attachments.map((part) => part.title_link)),
      },
    ];
  },
});

const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

const toPlain = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';

/** A line for each field of an attachment. */
const readFields = (fields: readonly unknown[] = []): string =>
  fields
    .slice(0, mostAttachments)
    .filter(isObject)
    .map(({ title, value }) => [title, value].map(toPlain).filter(Boolean).join(': '))
    .filter((line) => line !== '')
    .join('\n');

/** Deeper elements of a block have no text of their own. */
const deepest = 6;

/** The texts of blocks, each block on a line. */
const readBlocks = (blocks: readonly unknown[] = []): string =>
  blocks
    .slice(0, mostAttachments)
    .map((block) => readBlock(block, deepest))
    .filter((line) => line !== '')
    .join('\n');

/** The texts in one block: `text` is a text or has one, and the rest is in lists. */
const readBlock = (block: unknown, depth: number): string => {
  if (!isObject(block) || depth === 0) return '';
  const { text, title, alt_text: picture, url, fields, elements } = block;
  const lists = [fields, elements].flatMap((list) => (Array.isArray(list) ? list.slice(0, mostAttachments) : []));
  const own = [text, title, picture, url].map((part) => toPlain(part) || readBlock(part, depth - 1));
  return [own.find((part) => part !== '') ?? '', ...lists.map((each) => readBlock(each, depth - 1))]
    .filter((each) => each.trim() !== '')
    .join(' ');
};
