import { escapeHtml } from '../../../lib/html.ts';
import type { DeliveredAlert } from '../message/alert.ts';
import type { IncidentMessage } from '../message/message.ts';
import type { Outgoing, Urgency } from '../message/outgoing.ts';
import { truncate } from '../message/plain-text.ts';

/** Maximum size of the text in bytes. */
const maxBytes = 64 * 1024;

/** Maximum number of incident threads that one mail references. */
const mostThreads = 16;

interface MailAddress {
  /** Display name. */
  name: string;
  address: string;
}

/** Mail in nodemailer's form. */
export interface Mail {
  from: MailAddress;
  to: MailAddress[];
  subject: string;
  text: string;
  html?: string;
  date: Date;
  messageId: string;
  inReplyTo?: string;
  references?: string[];
  headers: Record<string, string>;
}

/** Converts a message to a mail. The mail depends only on the message, so every retry has the same id. */
export const toMail = (outgoing: Outgoing, from: string, to: readonly string[]): Mail => {
  const { id, time, title, urgency, via } = outgoing;
  const author = toMailAddress(from);
  const [, domain = 'localhost'] = author.address.split('@');
  const references = toThreads(outgoing).map((thread) => `<${thread}@${domain}>`);
  const [inReplyTo] = references;
  return {
    from: author,
    to: to.map(toMailAddress),
    subject: title,
    text: toMailText(outgoing),
    html: toHtml(outgoing),
    date: new Date(time),
    messageId: `<${id}@${domain}>`,
    ...(inReplyTo !== undefined && { inReplyTo, references }),
    headers: {
      // RFC 3834, and Exchange's equivalent, suppress automatic replies.
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      ...(urgency === 'critical' && { 'X-Priority': '1', Importance: 'high' }),
      'X-Signalbox-Via': via,
    },
  };
};

/** Parses `Anna <anna@example.org>` or a bare address. */
export const toMailAddress = (text: string): MailAddress => {
  const [, name = '', address = text] = /^(.*)<([^<>]*)>$/.exec(text) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/, '$1'), address };
};

/**
 * Returns thread ids. All mails about an incident form one thread. So do the mails about an alert, its repeats and its
 * resolution.
 */
const toThreads = ({ alert, message }: Outgoing): string[] =>
  alert ? toAlertThread(alert) : toIncidentThreads(message);

const toAlertThread = ({ resolves, repeatOf }: DeliveredAlert): string[] =>
  [resolves ?? repeatOf ?? []].flat().map((id) => id.replaceAll(/[^\w-]/g, ''));

const toIncidentThreads = ({ updates }: IncidentMessage): string[] =>
  updates.slice(0, mostThreads).map(({ incident }) => `incident.${incident.id}`);

const toMailText = ({ text, link, acknowledgeUrl }: Outgoing): string =>
  [
    truncate(text, maxBytes),
    ...(acknowledgeUrl === undefined ? [] : [`Acknowledge: ${acknowledgeUrl}`]),
    ...(link === undefined ? [] : [`Open: ${link}`]),
  ].join('\n\n');

const colors: Record<Urgency, string> = {
  critical: '#b3248a',
  error: '#d5473d',
  warning: '#d99a2b',
  info: '#6ba3d6',
  resolved: '#0f7a57',
};

const font = 'font-family: system-ui, sans-serif; line-height: 1.5';
const button = 'display: inline-block; padding: 10px 16px; border-radius: 8px; background: #0a6a50; color: #ffffff';

/** Formats the mail as HTML with inline styles. Mail programs strip style sheets. */
const toHtml = ({ title, text, urgency, link, acknowledgeUrl }: Outgoing): string => {
  const links = [
    ...(acknowledgeUrl === undefined ? [] : [writeLink(acknowledgeUrl, 'Acknowledge', button)]),
    ...(link === undefined || !/^https?:/i.test(link) ? [] : [writeLink(link, 'Open', '')]),
  ];
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head>`,
    `<body style="${font}">`,
    `<div style="border-left: 5px solid ${colors[urgency]}; padding: 0 0 0 12px">`,
    `<h1 style="font-size: 18px">${escapeHtml(title)}</h1>`,
    `<p style="white-space: pre-wrap">${escapeHtml(truncate(text, maxBytes))}</p>`,
    '</div>',
    ...(links.length === 0 ? [] : [`<p>${links.join(' &nbsp; ')}</p>`]),
    '</body></html>',
    '',
  ].join('\n');
};

const writeLink = (url: string, label: string, style: string): string =>
  `<a href="${escapeHtml(url)}"${style && ` style="${style}"`}>${label}</a>`;
