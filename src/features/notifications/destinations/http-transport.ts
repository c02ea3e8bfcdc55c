import type { LookupAddress } from 'node:dns';
import { lookup as lookUpName } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { UncheckedAddress } from '../../../kit/reach.ts';
import { connectionFailures, forUntrusted } from '../../../lib/network-failures.ts';
import { createSerial } from '../../../lib/scheduling.ts';
import type { DeliveryRequest, ReceiverAddress } from './type.ts';

/** Connection timeout in milliseconds. */
const connectMs = 5000;

/** Maximum number of bytes read from a response. */
const maxResponseBytes = 64 * 1024;

/**
 * Response of the receiver, or the reason why there is no response. `isSent`: the receiver may have seen the request.
 * `isUnanswered`: the receiver may still be processing the request. `isForbidden`: `watchTargets` does not allow the
 * address.
 */
export type ReceiverReply =
  | { status: number; retryAfter: string | undefined; text: string }
  | { failure: string; isSent: boolean; isForbidden?: boolean; isUnanswered?: boolean };

/** Client for one server. */
export interface HttpTransport {
  /** Sends a request. Never rejects. */
  send(request: DeliveryRequest): Promise<ReceiverReply>;
  /** Aborts all requests. */
  close(): Promise<void>;
}

/**
 * Creates a client for one server. It keeps up to `connections` open and does not follow redirects. A request may take
 * 5 seconds to connect and `requestSeconds` in total.
 */
export const createHttpTransport = (
  { url, trust = {} }: Pick<ReceiverAddress, 'url'> & Partial<Pick<ReceiverAddress, 'trust'>>,
  connections: number,
  requestSeconds: number,
  lookup: LookupFunction = lookupInTurn,
): HttpTransport => {
  const connect = { timeout: connectMs, lookup, ...trust };
  // Each exchange has its own limit for the whole request.
  const pool = new Pool(url.origin, { connections, connect, headersTimeout: 0, bodyTimeout: 0 });
  /** Requests in progress, oldest first. They share one timer, because few requests reach the limit. */
  const exchanges = new Set<Exchange>();
  let timer: NodeJS.Timeout | undefined;
  const endOverdue = (): void => {
    timer = undefined;
    for (const exchange of exchanges) {
      const left = exchange.begunAt + requestSeconds * 1000 - performance.now();
      if (left > 0) {
        timer = setTimeout(endOverdue, left);
        break;
      }
      exchange.end(`no response within ${requestSeconds} s`, { breaksOff: true, isOverdue: true });
    }
  };
  return {
    send: ({ method = 'POST', path, headers, body }) =>
      new Promise((resolve) => {
        const exchange = new Exchange((reply) => {
          exchanges.delete(exchange);
          resolve(reply);
        });
        exchanges.add(exchange);
        timer ??= setTimeout(endOverdue, requestSeconds * 1000);
        pool.dispatch({ path, method, headers, ...(method !== 'GET' && { body }) }, exchange);
      }),
    close: async () => {
      await pool.destroy();
      clearTimeout(timer);
    },
  };
};

const over = new Error('the request has ended');

/** Request with its response. The response is complete once the status and up to 64 KiB of the body have been read. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly begunAt = performance.now();
  readonly #onEnd: (reply: ReceiverReply) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #isOver = false;
  #status = 0;
  #retryAfter: string | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(onEnd: (reply: ReceiverReply) => void) {
    this.#onEnd = onEnd;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // The limit passed while the request waited for a connection.
    if (this.#isOver) controller.abort(over);
  }

  onResponseStart(_controller: unknown, status: number, headers: NodeJS.Dict<string | string[]>): void {
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = [headers['retry-after']].flat()[0];
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    this.#chunks.push(chunk.subarray(0, maxResponseBytes - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes >= maxResponseBytes) this.end('', { breaksOff: true });
  }

  onResponseEnd(): void {
    this.end('');
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.end(describe(error), { isForbidden: error instanceof UncheckedAddress });
  }

  /** Ends the exchange. A response with a status counts even if its body is incomplete. */
  end(failure: string, { breaksOff = false, isForbidden = false, isOverdue = false } = {}): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isSent = this.#controller !== undefined;
    this.#onEnd(
      this.#status > 0
        ? { status: this.#status, retryAfter: this.#retryAfter, text: Buffer.concat(this.#chunks).toString() }
        : {
            failure,
            isSent,
            ...(isForbidden && { isForbidden }),
            ...(isOverdue && isSent && { isUnanswered: true }),
          },
    );
    if (breaksOff) this.#controller?.abort(over);
  }
}

const reasons: Record<string, string> = {
  ...connectionFailures,
  ...forUntrusted('the certificate was not signed by a trusted CA: set ca or caFile'),
  UND_ERR_CONNECT_TIMEOUT: 'no connection within 5 s',
  UND_ERR_SOCKET: 'the connection was closed',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name',
};

/** Returns the reason for a failure. Leaves out strings that could reveal parts of the request. */
const describe = (error: Error): string => {
  if (error instanceof UncheckedAddress) return error.message;
  const { code = error.name } = error as NodeJS.ErrnoException;
  return reasons[code] ?? `the request failed (${code})`;
};

const inTurn = createSerial();

/** Running and waiting lookups, by host name and address family. */
const pending = new Map<string, Promise<LookupAddress[]>>();

/**
 * Looks up one host name at a time. Each lookup occupies a thread that the log also needs. An unresponsive name server
 * must not block all threads.
 */
const lookupInTurn: LookupFunction = (hostname, { all = false, family = 0 }, callback) => {
  const name = `${hostname} ${family}`;
  const addresses = pending.get(name) ?? inTurn(() => lookUpName(hostname, { all: true, family }));
  pending.set(name, addresses);
  addresses
    .finally(() => pending.delete(name))
    .then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error) => callback(error, ''),
    );
};
