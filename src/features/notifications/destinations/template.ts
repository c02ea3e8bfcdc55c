import { computeOnce } from '../../../host/reading.ts';
import { escapeHtml } from '../../../lib/html.ts';
import type { Outgoing } from '../message/outgoing.ts';
import { toSingleLine, truncate } from '../message/plain-text.ts';
import { type DeliveryRequest, type DestinationType, type ReceiverAddress, toHeader } from './type.ts';

/** Maximum size of a value in the body, in bytes. */
const maxBodyBytes = 16 * 1024;

/** Maximum size of a value in the query or in a header, in bytes. Servers limit the size of both. */
const maxQueryBytes = 1024;

/** Value that replaces a placeholder. */
type Value = string | number | null | Record<string, string>;

const placeholders = [
  ...['message', 'title', 'level', 'status', 'event', 'source', 'hostname', 'labels', 'link', 'acknowledgeUrl'],
  ...['number', 'count', 'id', 'time', 'key'],
] as const;

type Values = Record<(typeof placeholders)[number], Value>;

/** `{message}`, or `{json labels}` for a value that includes its quotes. */
const placeholder = /\{(json )?([A-Za-z]\w*)\}/g;

/** Placeholder in a query, where some characters are percent-encoded. */
const queryPlaceholder = /(?:\{|%7B)(json(?:%20|\+))?([A-Za-z]\w*)(?:\}|%7D)/gi;

/** Any other HTTP receiver. The request is a template with placeholders. */
export const templateDestination: DestinationType = {
  name: 'template',
  // The receiver can be any program.
  timeoutSeconds: 60,
  secret: 'none',
  ownSettings: ['method', 'body'],
  ownHeaders: ['content-type'],
  findProblem: (receiver) => {
    const { url, settings } = receiver;
    const { method = 'POST', body } = settings;
    if (method === 'GET' && body !== undefined) return 'method GET has no body: put the placeholders into the url';
    if (method !== 'GET' && body === undefined) return 'type template needs body, such as {"text": "{message}"}';
    if (/\{|%7B/i.test(url.pathname)) return 'url can contain placeholders only after the ?';
    const texts = [body ?? '', ...listTexts(receiver).map(([, text]) => text)];
    const named = texts.flatMap((text) => [...text.matchAll(placeholder)]);
    const unknown = [...named, ...url.search.matchAll(queryPlaceholder)]
      .map(([, , name = '']) => name)
      .find((name) => !isPlaceholder(name));
    if (unknown !== undefined) return `{${unknown}} is not a placeholder; use ${placeholders.join(', ')}`;
    return body !== undefined && toForm(receiver) === 'json' ? findJsonProblem(body) : undefined;
  },
  toRequest: (outgoing, receiver): DeliveryRequest => {
    const { url, settings } = receiver;
    const { method = 'POST' } = settings;
    const { query: queryParts, body } = toTemplates(receiver);
    const query = fill(queryParts, toValues(outgoing, maxQueryBytes), 'form');
    return {
      method,
      path: `${url.pathname}${query}`,
      headers: {
        ...(method !== 'GET' && { 'content-type': toContentType(receiver) }),
        'idempotency-key': outgoing.id,
      },
      body: fill(body, toValues(outgoing, maxBodyBytes), toForm(receiver)),
    };
  },
  toHeaders: (outgoing, receiver) => {
    const values = toValues(outgoing, maxQueryBytes);
    const filled = toTemplates(receiver).headers.map(([name, parts]) => [
      name,
      toHeader(fill(parts, values, 'header')),
    ]);
    return { ...receiver.headers, ...Object.fromEntries(filled) };
  },
};

/** Returns the headers that are plain text in the settings, with names in lower case. Other headers may be secret. */
const listTexts = ({ settings }: ReceiverAddress): [name: string, text: string][] =>
  Object.entries(settings.headers ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name.toLowerCase(), value]] : [],
  );

const isPlaceholder = (name: string): name is keyof Values => (placeholders as readonly string[]).includes(name);

/** Start of a JSON text. A placeholder on its own is not JSON. */
const jsonStart = /^\s*(?:\[|\{(?!\w+\}))/;

const toContentType = ({ headers, settings }: ReceiverAddress): string =>
  headers['content-type'] ?? (jsonStart.test(settings.body ?? '') ? 'application/json' : 'text/plain; charset=utf-8');

/** Context that determines how values are escaped. */
type Form = 'json' | 'form' | 'xml' | 'header' | 'text';

const toForm = (receiver: ReceiverAddress): Form => {
  const [type = ''] = toContentType(receiver).toLowerCase().split(';');
  if (/[/+]json\s*$/.test(type)) return 'json';
  if (/\/x-www-form-urlencoded\s*$/.test(type)) return 'form';
  return /[/+](?:xml|html)\s*$/.test(type) ? 'xml' : 'text';
};

const escapes: Record<Form, (text: string) => string> = {
  json: (text) => JSON.stringify(text).slice(1, -1),
  form: encodeURIComponent,
  xml: escapeHtml,
  header: toSingleLine,
  text: (text) => text,
};

/** Part of a template: literal text, or a placeholder for plain text or JSON. Equal placeholders share one object. */
type TemplatePart = string | { name: keyof Values; isJson: boolean };

const parseTemplate = (template: string, pattern: RegExp): TemplatePart[] => {
  const parts: TemplatePart[] = [];
  const placed = new Map<string, TemplatePart>();
  let end = 0;
  for (const { 0: whole, 1: json, 2: name = '', index } of template.matchAll(pattern)) {
    if (!isPlaceholder(name)) continue;
    const part = placed.get(`${json}${name}`) ?? { name, isJson: json !== undefined };
    placed.set(`${json}${name}`, part);
    parts.push(template.slice(end, index), part);
    end = index + whole.length;
  }
  return [...parts, template.slice(end)];
};

/** Returns the templates of a receiver. They are parsed only once. */
const toTemplates = computeOnce((receiver: ReceiverAddress) => ({
  query: parseTemplate(receiver.url.search, queryPlaceholder),
  body: parseTemplate(receiver.settings.body ?? '', placeholder),
  headers: listTexts(receiver).map(([name, text]) => [name, parseTemplate(text, placeholder)] as const),
}));

const fill = (parts: readonly TemplatePart[], values: Values, form: Form): string => {
  const filled = new Map<TemplatePart, string>();
  let text = '';
  for (const part of parts) {
    if (typeof part !== 'string' && !filled.has(part)) filled.set(part, toFilled(values[part.name], form, part.isJson));
    text += typeof part === 'string' ? part : filled.get(part);
  }
  return text;
};

const toFilled = (value: Value, form: Form, isJson: boolean): string => {
  if (!isJson) return escapes[form](toPlain(value));
  // Inside JSON, a JSON value needs no escaping.
  return form === 'json' ? JSON.stringify(value) : escapes[form](JSON.stringify(value));
};

const toPlain = (value: Value): string => {
  if (typeof value !== 'object') return String(value);
  return Object.entries(value ?? {})
    .map(([name, text]) => `${name}=${text}`)
    .join(', ');
};

const toValues = (outgoing: Outgoing, maxBytes: number): Values => {
  const { id, time, title, text, urgency, link = '', acknowledgeUrl = '', alert, message } = outgoing;
  const first = message?.updates[0]?.incident;
  return {
    id,
    time,
    title,
    link,
    acknowledgeUrl,
    message: truncate(text, maxBytes),
    level: alert ? alert.severity : message.severity,
    status: urgency === 'resolved' ? 'resolved' : 'firing',
    event: message ? `incident.${message.what}` : 'alert',
    source: truncate((alert ?? first)?.source ?? '', maxBytes),
    hostname: truncate((alert ?? first)?.hostname ?? '', maxBytes),
    labels: limitLabels((alert ?? first)?.labels ?? {}, maxBytes),
    key: truncate(alert ? (alert.key ?? '') : (first?.id ?? ''), maxBytes),
    number: first?.number ?? null,
    count: first?.count ?? null,
  };
};

/** Returns as many whole labels as fit into `maxBytes`, in order. */
const limitLabels = (labels: Record<string, string>, maxBytes: number): Record<string, string> => {
  let left = maxBytes;
  const fitting = Object.entries(labels).filter((label) => {
    const bytes = Buffer.byteLength(JSON.stringify(label));
    const hasRoom = bytes <= left;
    if (hasRoom) left -= bytes;
    return hasRoom;
  });
  return Object.fromEntries(fitting);
};

/** Values that break the JSON if a placeholder is not inside quotes. */
const hostile: Values = {
  ...(Object.fromEntries(placeholders.map((name) => [name, '"\\\n'])) as unknown as Values),
  labels: { a: '"' },
};

const findJsonProblem = (body: string): string | undefined => {
  try {
    JSON.parse(fill(parseTemplate(body, placeholder), hostile, 'json'));
    return undefined;
  } catch {
    return 'body is not valid JSON after its placeholders are filled in: write "{message}" with quotes and {json labels} without, or set the header content-type';
  }
};
