import type { IncomingHttpHeaders } from 'node:http';
import Type, { type Static, type TSchema } from 'typebox';
import { defineShape } from '../../../kit/route.ts';
import type { Severity } from '../../../kit/severity.ts';

/** Request to an intake path. */
export interface IntakeRequest {
  /** Body; empty if the request has none. */
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** Media type in lower case without parameters; undefined if the client sent none. */
  contentType: string | undefined;
  /** Parses JSON in UTF-8; throws an HttpError. */
  parseJson(bytes: Buffer): unknown;
}

/** Alert as its sender describes it. Texts are cleaned and cut when the record is created. */
export interface ForeignAlert {
  source: string;
  /** Severity of the problem; a resolved alert is stored as INFO. */
  level: Severity;
  message: string;
  hostname: string;
  status: 'firing' | 'resolved';
  /** True if the alert only acknowledges the incident of its fingerprint. */
  acknowledges?: boolean;
  /** Sender's id of the problem; an alert without a fingerprint is never a repeat. */
  fingerprint?: string | undefined;
  /** State for recognizing repeats; `status` by default. */
  state?: string | undefined;
  /** RFC 3339 in UTC. */
  startsAt?: string | undefined;
  endsAt?: string | undefined;
  labels?: Record<string, string> | undefined;
  link?: string | undefined;
  /** Further text, which may have several lines. */
  details?: string | undefined;
  /** URLs by purpose: `runbook`, `dashboard`, `panel`, `silence` and the like. */
  links?: Record<string, string> | undefined;
  /** Instances of signalbox that have delivered the alert before. */
  via?: string | undefined;
}

/** Format of a kind of sender: its body, the alerts in it, and peculiarities of its requests. */
export interface Format<S extends TSchema = TSchema> {
  /** End of the path `/api/alert/NAME`. */
  name: string;
  /** Summary of the route for the OpenAPI document. */
  summary: string;
  /** Body as JSON. Members that are null count as absent. */
  schema: S;
  /** True if a JSON value has the marks of this format, which no other format has. */
  recognizes(value: unknown): boolean;
  /** Converts a body to a JSON value; returns undefined for a body that is JSON. */
  decode?(request: IntakeRequest): unknown;
  /** Media types that `decode` reads, for the OpenAPI document. */
  mediaTypes?: readonly string[];
  /** Returns the alerts in a body that fits the schema; throws an HttpError for a body without an alert. */
  readAlerts(body: Static<S>, now: Date): Iterable<ForeignAlert>;
  /** Header with the HMAC of the body, and optional header with the signed time; both in lower case. */
  signature?: { header: string; timestampHeader: string };
  /** Response that the sender's libraries expect; an IntakeReceipt by default. */
  answer?: { status: number; schema: TSchema; create(stored: StoredBody): object };
  /** Media type of requests whose responses are not JSON, and writers of these responses. */
  binary?: { mediaType: string; write(answer: object): Buffer; writeError(message: string): Buffer };
}

/** Result of storing the alerts of a body. */
interface StoredBody {
  ids: string[];
  /** Fingerprints in the order of the alerts; empty for an alert without a fingerprint. */
  fingerprints: string[];
  /** Number of alerts that are not stored because their level is too low. */
  leftOut: number;
}

/** Types `readAlerts` by the schema. */
export const defineFormat = <const S extends TSchema>(format: Format<S>): Format => format as unknown as Format;

/** Media type of forms, the default of curl and the only media type of many routers and storage devices. */
export const formType = 'application/x-www-form-urlencoded';

/** End of the path of plain texts. */
export const plainTextName = 'plain-text';

export const IntakeReceipt = defineShape('IntakeReceipt', {
  received: Type.Literal(true),
  ids: Type.Array(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }), {
    description: "Ids of the alerts, in the body's order.",
  }),
  repeated: Type.Integer({
    examples: [0],
    description: 'Number of alerts that repeat a stored alert; each has the id of the stored alert.',
  }),
});
