import type { LookupFunction } from 'node:net';
import Type, { type Static } from 'typebox';
import type { Outgoing } from '../message/outgoing.ts';
import { toSingleLine, truncate } from '../message/plain-text.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';

/** Type of a destination. */
export interface DestinationType {
  /** `type` in the settings. */
  name: string;
  secret: 'none' | 'optional' | 'required';
  /** Name of the header that contains the secret, in lower case. */
  secretHeader?: string;
  /** True if the secret may be any text, because no header contains it. */
  takesAnySecret?: boolean;
  /** True if the receiver identifies an alert by its labels: a resolution needs those of the alert that it resolves. */
  knowsByLabels?: boolean;
  /** Most secrets at a time; 1 by default. */
  secrets?: number;
  /** Returns the problem of a secret as a clause that does not show it. */
  findSecretProblem?(secret: string): string | undefined;
  /** Schemes of the URL; `http` and `https` by default. */
  schemes?: readonly string[];
  /** Settings that only this type has. */
  ownSettings?: readonly (keyof OwnSettings)[];
  /** Headers of the body that settings may change. */
  ownHeaders?: readonly string[];
  /** Returns the problem of the settings as a clause without secrets. */
  findProblem?(receiver: ReceiverAddress): string | undefined;
  /** Seconds that a request may take without `timeoutSeconds`; 15 by default. */
  timeoutSeconds?: number;
  /** Returns the request for a message at `now`, for types that speak HTTP. */
  toRequest?(outgoing: Outgoing, receiver: ReceiverAddress, now: Date): DeliveryRequest;
  /** Returns the headers of the settings, for types that fill in placeholders. */
  toHeaders?(outgoing: Outgoing, receiver: ReceiverAddress): Readonly<Record<string, string>>;
  /** Opens the transport, for types that do not speak HTTP. A message may take `seconds`; `lookup` replaces the look-up of names. */
  createTransport?(receiver: ReceiverAddress, seconds: number, lookup?: LookupFunction): Promise<OutgoingTransport>;
}

/** Settings that only some types have. */
export const ownSettings = {
  method: Type.Optional(
    Type.Enum(['POST', 'PUT', 'PATCH', 'GET'], {
      type: 'string',
      description: '`template`: HTTP method; POST by default.',
    }),
  ),
  body: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64 * 1024,
      examples: ['{"text": "{message}"}'],
      description: '`template`: body with placeholders.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      minLength: 1,
      examples: ['signalbox@example.org'],
      description: '`email`: address in From, such as `signalbox@example.org`.',
    }),
  ),
  to: Type.Optional(
    Type.Array(Type.String({ minLength: 1, examples: ['anna@example.org'] }), {
      minItems: 1,
      maxItems: 50,
      description: '`email`: recipients.',
    }),
  ),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      examples: ['signalbox'],
      description: '`email`: user name; the secret is the password.',
    }),
  ),
  tls: Type.Optional(
    Type.Enum(['required', 'none'], {
      type: 'string',
      description: '`email`: `required` if `smtp://` must use STARTTLS, the default except on loopback, or `none`.',
    }),
  ),
};
type OwnSettings = Static<ReturnType<typeof Type.Object<typeof ownSettings>>>;

/** Address of a receiver, with its credentials. */
export interface ReceiverAddress {
  url: URL;
  /** Settings of the type. */
  settings: OwnSettings & { headers?: Readonly<Record<string, unknown>> };
  /** Headers of the settings, by name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Current secret, then the previous one; empty without secrets. */
  secrets: readonly string[];
  /** Option `ca` of a TLS client, with additional CAs. */
  trust: { ca?: string[] };
}

export interface SendResult {
  outcome: DeliveryOutcome;
  /** Response of the receiver, or the reason why there is none. */
  reply: string;
}

export interface OutgoingTransport {
  /** Never rejects. */
  send(outgoing: Outgoing, now: Date): Promise<SendResult>;
  /** Aborts all requests. */
  close(): Promise<void>;
}

/** HTTP request of a destination. */
export interface DeliveryRequest {
  /** POST by default. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'GET';
  /** Path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Returns path and query of the configured URL. */
export const toPath = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** Returns the path with `end` appended, unless the path has it already. */
export const toPathWith = ({ pathname, search }: URL, end: string): string => {
  const base = pathname.replace(/\/+$/, '');
  return `${base.endsWith(end) ? base : `${base}${end}`}${search}`;
};

export const jsonType = { 'content-type': 'application/json' };

/** Returns the header of receivers, or of their proxies, that take a token. */
export const toBearer = ([secret]: readonly string[]): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` };

/** Returns one line of text for a header; other characters than printable ASCII are encoded by RFC 2047, which ntfy and others decode. */
export const toHeader = (text: string): string => {
  const line = toSingleLine(text);
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString('base64')}?=`;
};

/** Inserts a zero-width character into mentions with which chat programs notify a whole channel. */
export const breakMentions = (text: string): string =>
  text.replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b');

/** Returns the text below the title, with the link to acknowledge for receivers without buttons. */
export const toBody = ({ text, acknowledgeUrl }: Outgoing, maxBytes: number): string => {
  const end = acknowledgeUrl === undefined ? '' : `\n\nAcknowledge: ${acknowledgeUrl}`;
  return `${truncate(text, maxBytes - end.length)}${end}`;
};
