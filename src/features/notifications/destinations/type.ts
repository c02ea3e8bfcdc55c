import type { LookupFunction } from 'node:net';
import Type, { type Static } from 'typebox';
import type { DeliveredAlert } from '../message/alert.ts';
import type { IncidentMessage } from '../message/message.ts';
import type { Outgoing } from '../message/outgoing.ts';
import { toSingleLine, truncate } from '../message/plain-text.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';

/** Type of a destination. */
export interface DestinationType {
  /** Value of `type` in the settings. */
  name: string;
  secret: 'none' | 'optional' | 'required';
  /** Lower-case name of the header that contains the secret. */
  secretHeader?: string;
  /** True if the secret may be any string. Only possible if the secret is not sent in a header. */
  takesAnySecret?: boolean;
  /** True if the receiver identifies alerts by labels. A resolution then needs the labels of the resolved alert. */
  knowsByLabels?: boolean;
  /** Maximum number of secrets that are valid at the same time. Default: 1. */
  secrets?: number;
  /** Returns the problem with a secret, as a clause that does not reveal the secret. */
  findSecretProblem?(secret: string): string | undefined;
  /** Allowed URL schemes. Default: `http` and `https`. */
  schemes?: readonly string[];
  /** Settings specific to this type. */
  ownSettings?: readonly (keyof OwnSettings)[];
  /** Body-related headers that the settings can override, such as `content-type`. */
  ownHeaders?: readonly string[];
  /** Returns the problem with the settings, as a clause without secrets. */
  findProblem?(receiver: ReceiverAddress): string | undefined;
  /** Request timeout in seconds unless `timeoutSeconds` is set. Default: 15. */
  timeoutSeconds?: number;
  /** Builds the request for a message, for types that speak HTTP. `now` is the time of the request. */
  toRequest?(outgoing: Outgoing, receiver: ReceiverAddress, now: Date): DeliveryRequest;
  /** Returns the headers from the settings, for types that fill in placeholders. */
  toHeaders?(outgoing: Outgoing, receiver: ReceiverAddress): Readonly<Record<string, string>>;
  /** Opens the transport, for types that do not speak HTTP. A message may take `seconds`. `lookup` resolves names. */
  openTransport?(receiver: ReceiverAddress, seconds: number, lookup?: LookupFunction): Promise<Transport>;
}

/** Settings that exist only for certain types. */
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
      description: '`email`: TLS of `smtp://`: `required` (STARTTLS; the default except on loopback) or `none`.',
    }),
  ),
};
type OwnSettings = Static<ReturnType<typeof Type.Object<typeof ownSettings>>>;

/** Address and credentials of a receiver. */
export interface ReceiverAddress {
  url: URL;
  /** Type-specific settings. */
  settings: OwnSettings & { headers?: Readonly<Record<string, unknown>> };
  /** Headers from the settings, by lower-case name. */
  headers: Readonly<Record<string, string>>;
  /** Current secret, followed by the previous secret. Empty if there is none. */
  secrets: readonly string[];
  /** TLS client option `ca` with additional CAs. */
  trust: { ca?: string[] };
}

export interface SendResult {
  outcome: DeliveryOutcome;
  /** Response of the receiver, or the reason why there is no response. */
  reply: string;
  /** True if the mail server may accept other mails. */
  concernsOneMail?: boolean;
}

/** Sends alerts and messages to the receiver of one destination. */
export interface Transport {
  /**
   * Sends the content. `added` contains headers for this request, if the receiver speaks HTTP. Rejects only on
   * unexpected errors.
   */
  send(content: DeliveredAlert | IncidentMessage, added?: Record<string, string>): Promise<SendResult>;
  /** Aborts all requests. */
  close(): Promise<void>;
}

/** HTTP request to a destination. */
export interface DeliveryRequest {
  /** POST by default. */
  method?: 'POST' | 'PUT' | 'PATCH' | 'GET';
  /** Path with query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Returns the path and query of the configured URL. */
export const toPath = ({ pathname, search }: URL): string => `${pathname}${search}`;

/** Returns the path with `end` appended. Returns it unchanged if it already ends with `end`. */
export const toPathWith = ({ pathname, search }: URL, end: string): string => {
  const base = pathname.replace(/\/+$/, '');
  return `${base.endsWith(end) ? base : `${base}${end}`}${search}`;
};

export const jsonType = { 'content-type': 'application/json' };

/** Returns the `Authorization` header for receivers, or proxies in front of them, that expect a bearer token. */
export const toBearer = ([secret]: readonly string[]): Record<string, string> =>
  secret === undefined ? {} : { authorization: `Bearer ${secret}` };

/**
 * Encodes text as a single header line. Everything but printable ASCII is encoded according to RFC 2047. ntfy and
 * others understand this.
 */
export const toHeader = (text: string): string => {
  const line = toSingleLine(text);
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString('base64')}?=`;
};

/** Inserts a zero-width character into mentions that would notify a whole chat channel. */
export const breakMentions = (text: string): string =>
  text.replaceAll(/@(?=(?:all|channel|everyone|here)\b)/gi, '@\u200b');

/** Returns the text below the title. Includes the acknowledge link, for receivers without buttons. */
export const toBody = ({ text, acknowledgeUrl }: Outgoing, maxBytes: number): string => {
  const end = acknowledgeUrl === undefined ? '' : `\n\nAcknowledge: ${acknowledgeUrl}`;
  return `${truncate(text, maxBytes - end.length)}${end}`;
};
