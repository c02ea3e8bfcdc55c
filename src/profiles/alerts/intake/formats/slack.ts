import Type from 'typebox';
import { HttpError } from '../../../../http/errors.ts';
import type { Severity } from '../../../severity.ts';
import { defineFormat, findDetails, firstText, isObject, toLink, toSource } from '../format.ts';

const Text = Type.Optional(Type.String());

const formType = 'application/x-www-form-urlencoded';

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
            color: Type.Optional(Type.String({ examples: [...levels.keys()] })),
            title_link: Text,
          }),
        ),
      ),
    },
    { title: 'SlackMessage' },
  ),
  mediaTypes: [formType],
  recognizes: (value) => isObject(value) && typeof value['text'] === 'string',
  decode: ({ contentType, bytes, parseJson }) => {
    // curl labels JSON as a form, too.
    if (contentType !== formType || /^\s*[[{]/.test(bytes.toString('latin1', 0, 16))) return undefined;
    const payload = new URLSearchParams(bytes.toString('utf8')).get('payload');
    if (payload === null) throw new HttpError('invalid', 'The form must have the field payload');
    return parseJson(Buffer.from(payload));
  },
  readAlerts: ({ text, username, attachments: all = [] }) => {
    const attachments = all.slice(0, mostAttachments);
    const message = firstText(text, ...attachments.flatMap((part) => [part.text, part.fallback]));
    if (message === '') throw new HttpError('invalid', 'text is required, or an attachment with text or fallback');
    const color = firstText(...attachments.map((part) => part.color)).toLowerCase();
    return [
      {
        source: toSource('slack', username),
        level: levels.get(color) ?? 'WARNING',
        message,
        details: findDetails(message, ...attachments.map((part) => part.text)),
        hostname: 'unknown',
        status: 'firing',
        link: toLink(...attachments.map((part) => part.title_link)),
      },
    ];
  },
});
