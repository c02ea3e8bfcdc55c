import type { IncomingHttpHeaders } from 'node:http';
import type { Static, TSchema } from 'typebox';
import Type from 'typebox';
import { defineShape } from '../../route.ts';
import type { Severity } from '../../severity.ts';

/** A request to an intake path. */
export interface Incoming {
  /** The body; empty if there is none. */
  bytes: Buffer;
  headers: IncomingHttpHeaders;
  /** Media type as the client sent it, in lower case and without parameters; undefined if it sent none. */
  contentType: string | undefined;
  /** Parses JSON in UTF-8; throws an HttpError. */
  parseJson(bytes: Buffer): unknown;
}

/** An alert as its sender describes it. Texts are cleaned and cut when its record is made. */
export interface ForeignAlert {
  source: string;
  /** INFO is stored instead if the alert is resolved. */
  level: Severity;
  message: string;
  hostname: string;
  status: 'firing' | 'resolved';
  /** The sender's own id of what the alert is about; without one the alert is never a repeat. */
  fingerprint?: string | undefined;
  /** What this event says about the fingerprint, if that is not `status`. */
  state?: string | undefined;
  /** RFC 3339 in UTC. */
  startsAt?: string | undefined;
  endsAt?: string | undefined;
  labels?: Record<string, string> | undefined;
  link?: string | undefined;
  /** What else it says; may have several lines. */
  details?: string | undefined;
  /** By what they lead to: `runbook`, `dashboard`, `panel`, `silence` and the like. */
  links?: Record<string, string> | undefined;
  /** The signalbox instances that delivered the alert before. */
  via?: string | undefined;
}

/** One kind of sender: its body, the alerts in it, and what is special about its requests. */
export interface Format<S extends TSchema = TSchema> {
  /** The path is `/api/alert/NAME`. */
  name: string;
  /** One line for people. */
  summary: string;
  /** The body as JSON. Members that are null count as absent. */
  schema: S;
  /** Whether a JSON value has the marks that only this format has. */
  recognizes(value: unknown): boolean;
  /** Makes a JSON value of a body that is something else; undefined if the body is JSON. */
  decode?(incoming: Incoming): unknown;
  /** Media types that `decode` reads, for the OpenAPI document. */
  mediaTypes?: readonly string[];
  /** The alerts in a body that fits the schema; throws an HttpError if it says nothing. */
  readAlerts(body: Static<S>, now: Date): Iterable<ForeignAlert>;
  /** Headers with the HMAC of the body and, optionally, the time that is part of it; both in lower case. */
  signature?: { header: string; timestampHeader: string };
  /** The answer that the sender's own libraries expect, if it is not the usual one. */
  answer?: { status: number; schema: TSchema; create(stored: { ids: string[]; body: unknown }): object };
}

/** Types `readAlerts` from the schema. */
export const defineFormat = <const S extends TSchema>(format: Format<S>): Format => format as unknown as Format;

/** True for a JSON object; arrays are none. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const IntakeReceipt = defineShape('IntakeReceipt', {
  received: Type.Literal(true),
  ids: Type.Array(Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }), {
    description: "The id of each alert, in the body's order.",
  }),
  repeated: Type.Integer({
    examples: [0],
    description: 'How many of them had been stored before; their ids are those of the first.',
  }),
});
