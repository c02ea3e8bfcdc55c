import type { OutgoingAlert } from '../alert.ts';

/** A request of a destination: always a POST, with `via` added by the sender. */
export interface OutgoingRequest {
  /** Where it goes on the destination's server: path and query. */
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Where requests of a destination go. */
export interface Place {
  url: URL;
  /** The current secret first, then the previous one; empty if there is none. */
  secrets: readonly string[];
}

/** A kind of receiver. */
export interface DestinationType {
  /** As `type` in the config file. */
  name: string;
  /** Whether a destination has a secret. */
  secret: 'none' | 'optional' | 'required';
  /** The header that is the secret, in lower case; undefined if no header is. */
  secretHeader?: string;
  /** How many secrets it can use at a time; one unless stated. */
  secrets?: number;
  /** Why a secret cannot be used, as a clause that does not show it. */
  findSecretProblem?(secret: string): string | undefined;
  /** The request that delivers the alert at `now`. */
  toRequest(alert: OutgoingAlert, place: Place, now: Date): OutgoingRequest;
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
