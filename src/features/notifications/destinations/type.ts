import type { LookupFunction } from 'node:net';
import Type, { type Static } from 'typebox';
import type { Outgoing } from '../message/outgoing.ts';
import { toSingleLine, truncate } from '../message/text.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';

/** A kind of receiver. */
export interface DestinationType {
  /** As `type` in the config file. */
  name: string;
  /** Whether a destination has a secret. */
  secret: 'none' | 'optional' | 'required';
  /** The header that is the secret, in lower case; undefined if no header is. */
  secretHeader?: string;
  /** Its secret may be any text, since it is sent in no header. */
  takesAnySecret?: boolean;
  /** Its receiver knows an alert by its labels, so that an end has to have those of the alert that it ends. */
  knowsByLabels?: boolean;
  /** How many secrets it can use at a time; one unless stated. */
  secrets?: number;
  /** Why a secret cannot be used, as a clause that does not show it. */
  findSecretProblem?(secret: string): string | undefined;
  /** The schemes of its URL; `http` and `https` unless stated. */
  schemes?: readonly string[];
  /** The settings that it has beside those of all types. */
  ownSettings?: readonly (keyof OwnSettings)[];
  /** Headers that its settings may name although they belong to the body. */
  ownHeaders?: readonly string[];
  /** Why its settings cannot be used, as a clause that shows no secret. */
  findProblem?(receiver: ReceiverAddress): string | undefined;
  /** Seconds that a request may take, where its settings do not say; 15 unless stated. */
  timeoutSeconds?: number;
  /** The request that delivers it at `now`; of types that speak HTTP. */
  toRequest?(outgoing: Outgoing, receiver: ReceiverAddress, now: Date): DeliveryRequest;
  /** The headers of the settings, where they are another text each time. */
  toHeaders?(outgoing: Outgoing, receiver: ReceiverAddress): Readonly<Record<string, string>>;
  /** Of other types: what sends to the receiver within so many seconds; to where `lookup` leads, if it is given. */
  createSender?(receiver: ReceiverAddress, seconds: number, lookup?: LookupFunction): Promise<OutgoingSender>;
}

/** Settings that only some types have. */
export const ownSettings = {
  method: Type.Optional(
    Type.Enum(['POST', 'PUT', 'PATCH', 'GET'], {
      type: 'string',
      description: '`template`: the method; POST by default.',
    }),
  ),
  body: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64 * 1024,
      examples: ['{"text": "{message}"}'],
      description: '`template`: the body, with placeholders.',
    }),
  ),
  from: Type.Optional(
    Type.String({
      minLength: 1,
      examples: ['signalbox@example.org'],
      description: '`email`: the sender, `signalbox@example.org`.',
    }),
  ),
  to: Type.Optional(
    Type.Array(Type.String({ minLength: 1, examples: ['anna@example.org'] }), {
      minItems: 1,
      maxItems: 50,
      description: '`email`: the recipients.',
    }),
  ),
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      examples: ['signalbox'],
      description: '`email`: logs in with the secret as password.',
    }),
  ),
  tls: Type.Optional(
    Type.Enum(['required', 'none'], {
      type: 'string',
      description: '`email`: whether `smtp://` must use STARTTLS; by default, except on loopback.',
    }),
  ),
};
type OwnSettings = Static<ReturnType<typeof Type.Object<typeof ownSettings>>>;

/** Where a destination sends. */
export interface ReceiverAddress {
  url: URL;
  /** Those of its type. */
  settings: OwnSettings & { headers?: Readonly<Record<string, unknown>> };
  /** The headers of the settings, by name in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The current secret first, then the previous one; empty if there is none. */
  secrets: readonly string[];
  /** The option `ca` of a TLS client, if CAs are trusted in addition. */
  trust: { ca?: string[] };
}

/** What became of an attempt, and what the receiver said, or why it did not. */
export interface SendResult {
  outcome: DeliveryOutcome;
  reply: string;
}

export interface OutgoingSender {
  /** Never rejects. */
  send(outgoing: Outgoing, now: Date): Promise<SendResult>;
  /** Breaks off what is being sent. */
  close(): Promise<void>;
}

/** A request of a destination. */
export interface DeliveryRequest {
  /** POST unless stated. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'GET';
  /** Where it goes on the destination's server: path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Path and query of the URL as it is configured. */
export const toPath = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** The path with `end` appended, unless it ends so already. */
export const toPathWith = ({ pathname, search }: URL, end: string): string => {
  const base = pathname.replace(/\/+$/, '');
  return `${base.endsWith(end) ? base : `${base}${end}`}${search}`;
};

export const jsonType = { 'content-type': 'application/json' };

/** The header of receivers, or proxies before them, that take a token. */
export const toBearer = ([secret]: readonly string[]): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` };

/** One line of text; where it is not printable ASCII, as RFC 2047 has it, which ntfy and others decode. */
export const toHeader = (text: string): string => {
  const line = toSingleLine(text);
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString('base64')}?=`;
};

/** Chat programs notify everybody in a channel for these words in any text; a character without a width keeps them from it. */
export const breakMentions = (text: string): string =>
  text.replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b');

/** What receivers show below the title, with what they cannot show as a button of its own. */
export const toBody = ({ text, acknowledgeUrl }: Outgoing, maxBytes: number): string => {
  const end = acknowledgeUrl === undefined ? '' : `\n\nAcknowledge: ${acknowledgeUrl}`;
  return `${truncate(text, maxBytes - end.length)}${end}`;
};
