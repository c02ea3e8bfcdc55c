import type { IncomingHttpHeaders } from 'node:http';
import Type, { type Static, type TSchema } from 'typebox';
import type { Severity } from '../../../kit/severity.ts';
import { defineShape } from '../../../kit/shape.ts';

/** Request to an intake path. */
export interface IntakeRequest {
  /** Request body. Empty if there is none. */
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** Lower-case media type without parameters. Undefined if the client sent none. */
  contentType: string | undefined;
  /** Parses UTF-8 JSON. Throws an HttpError for any other text. */
  parseJson(bytes: Buffer): unknown;
}

/** Alert as described by its sender. Strings are cleaned and truncated when the record is created. */
export interface ForeignAlert {
  source: string;
  /** Severity of the problem. A resolved alert is stored as INFO. */
  level: Severity;
  message: string;
  hostname: string;
  status: 'firing' | 'resolved';
  /** True if the alert only acknowledges the incident with its fingerprint. */
  acknowledges?: boolean;
  /** Id that the sender uses for the problem. An alert without a fingerprint is never a repeat. */
  fingerprint?: string | undefined;
  /** State used to recognize repeats. Default: `status`. */
  state?: string | undefined;
  /** RFC 3339 in UTC. */
  startsAt?: string | undefined;
  endsAt?: string | undefined;
  labels?: Record<string, string> | undefined;
  link?: string | undefined;
  /** Additional text. May have several lines. */
  details?: string | undefined;
  /** URLs by purpose, such as `runbook`, `dashboard`, `panel` and `silence`. */
  links?: Record<string, string> | undefined;
  /** Instances of signalbox that have already delivered the alert. */
  via?: string | undefined;
}

/** Format of one kind of sender: its body, the alerts in the body, and peculiarities of its requests. */
export interface Format<S extends TSchema = TSchema> {
  /** Last part of the path `/api/alert/NAME`. */
  name: string;
  /** Summary of the route in the OpenAPI document. */
  summary: string;
  /** Schema of the body as JSON. Null members count as absent. */
  schema: S;
  /** True if a JSON value has features that occur only in this format. */
  recognizes(value: unknown): boolean;
  /** Converts a body to a JSON value. Returns undefined if the body is already JSON. */
  decode?(request: IntakeRequest): unknown;
  /** Media types that `decode` reads, for the OpenAPI document. */
  mediaTypes?: readonly string[];
  /** Returns the alerts in a body that matches the schema. Throws an HttpError if there are none. */
  readAlerts(body: Static<S>, now: Date): Iterable<ForeignAlert>;
  /** Header with the HMAC of the body, and optional header with the signed time. Both names are in lower case. */
  signature?: { header: string; timestampHeader: string };
  /** Response expected by the sender's libraries. Default: an IntakeReceipt. */
  answer?: { status: number; schema: TSchema; create(stored: StoredBody): object };
  /** Media type of requests that expect non-JSON responses, and functions that write these responses. */
  binary?: { mediaType: string; write(answer: object): Buffer; writeError(message: string): Buffer };
}

/** Result of storing the alerts in a body. */
interface StoredBody {
  ids: string[];
  /** Fingerprints in the order of the alerts. Empty for an alert without a fingerprint. */
  fingerprints: string[];
  /** Number of alerts that were not stored because their level is too low. */
  leftOut: number;
}

/** Defines a format. The argument of `readAlerts` is typed by the schema. */
export const defineFormat = <const S extends TSchema>(format: Format<S>): Format => format as unknown as Format;

/**
 * Media type of forms. It is the default of curl, and the only media type that many routers and storage devices can
 * send.
 */
export const formType = 'application/x-www-form-urlencoded';

/** Last part of the path for plain text. */
export const plainTextName = 'plain-text';

export const IntakeReceipt = defineShape('IntakeReceipt', {
  received: Type.Literal(true),
  ids: Type.Array(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }), {
    description: 'Ids of the alerts, in the order of the body.',
  }),
  repeated: Type.Integer({
    examples: [0],
    description: 'Number of alerts that repeat a stored alert; each repeat has the id of the stored alert.',
  }),
});
