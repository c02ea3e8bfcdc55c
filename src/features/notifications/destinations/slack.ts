import type { Outgoing } from '../message/outgoing.ts';
import { truncate } from '../message/plain-text.ts';
import { breakMentions, type DestinationType, jsonType, toPath } from './type.ts';

/** Maximum size of the text in bytes. Slack truncates longer text. */
const maxBytes = 4000;

/**
 * Incoming webhook of Slack, Mattermost or Rocket.Chat. The whole `url` is secret. Messages have links instead of
 * buttons: Slack shows a warning for buttons without an interaction endpoint, and the other two ignore blocks.
 */
export const slackDestination: DestinationType = {
  name: 'slack',
  secret: 'none',
  toRequest: (outgoing, { url }) => {
    const { title, text: body, message } = outgoing;
    const text = `*${escapeText(title)}*\n${escapeText(truncate(body, maxBytes))}${toLinkLine(outgoing)}`;
    // A link preview would repeat the message.
    const preview = message ? { unfurl_links: false } : {};
    return { path: toPath(url), headers: jsonType, body: JSON.stringify({ text, ...preview }) };
  },
};

const toLinkLine = ({ message, link, acknowledgeUrl }: Outgoing): string => {
  const links = [
    ...(acknowledgeUrl === undefined ? [] : [`<${escapeUrl(acknowledgeUrl)}|Acknowledge>`]),
    ...(link === undefined ? [] : [`<${escapeUrl(link)}${message ? '|Open' : ''}>`]),
  ];
  return links.length === 0 ? '' : `\n${links.join(' · ')}`;
};

const escapeUrl = (url: string): string =>
  url.replaceAll('&', '&amp;').replaceAll('<', '%3C').replaceAll('>', '%3E').replaceAll('|', '%7C');

/** Escapes links and mentions: `<!channel>` for Slack, and the Markdown of Mattermost and Rocket.Chat. */
const escapeText = (text: string): string =>
  breakMentions(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/\](?=[([:])/g, ']\u200b');
