import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type HubSetting, parseHubUrl, readHubKey } from '../../kit/hub.ts';
import { connectionFailures, forUntrusted } from '../../lib/network-failures.ts';
import { isObject, parseJson } from '../../lib/parse-json.ts';
import { readSmallFileSync } from '../../lib/small-file.ts';

/** Timeout of an exchange in milliseconds, from connecting to the end of the response. */
const exchangeMs = 10_000;

/** Maximum number of bytes read from a response. A response may contain all watches for the host. */
const maxResponseBytes = 16 * 1024 * 1024;

/** Response from the hub. The status is 0 if there is no response. */
export interface HubReply {
  status: number;
  body: Record<string, unknown>;
  /** Reason for a failure, as a clause. */
  reason: string;
}

const reasons: Record<string, string> = {
  ...connectionFailures,
  ...forUntrusted('the certificate was not signed by a trusted CA: set ca'),
};

const compress = promisify(gzip);

/** Request without the key. The path may be relative to the address of the hub. */
interface HubRequest {
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
}

/**
 * Response, or the reason why there is no response. `isSent`: the hub may have seen the request. Even then, the request
 * may be sent again immediately, because the hub stores an alert only once.
 */
type Exchange = { status: number; retryAfter: string | undefined; text: string } | { failure: string; isSent: boolean };

/** Single keep-alive connection to a hub. */
export class HubClient {
  readonly #url: URL;
  readonly #hub: HubSetting;
  readonly #agent: HttpAgent;
  readonly #timeoutMs: number;

  constructor(hub: HubSetting, timeoutMs = exchangeMs) {
    this.#hub = hub;
    this.#timeoutMs = timeoutMs;
    this.#url = parseHubUrl(hub.url);
    const options = { keepAlive: true, maxSockets: 1, keepAliveMsecs: 30_000 };
    this.#agent =
      this.#url.protocol === 'https:'
        ? new HttpsAgent({
            ...options,
            ...(hub.ca !== undefined && { ca: [...rootCertificates, readSmallFileSync(hub.ca).toString()] }),
          })
        : new HttpAgent(options);
  }

  /** Sends a compressed JSON body. Includes the key unless `isKeyed` is false. Never rejects. */
  async send(path: string, content: object, isKeyed = true): Promise<HubReply> {
    const body = await compress(JSON.stringify(content));
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const received = await this.exchange({ path, headers, body }, isKeyed);
    const { origin } = this.#url;
    if ('failure' in received) return { status: 0, body: {}, reason: `${origin}: ${received.failure}` };
    const { status, text } = received;
    const parsed = parseJson(text);
    const answer = isObject(parsed) ? parsed : {};
    const said = typeof answer['error'] === 'string' ? `: ${answer['error'].slice(0, 300)}` : '';
    return { status, body: answer, reason: `${origin} responded ${status}${said}` };
  }

  /** Sends a POST. Includes the key unless `isKeyed` is false. Never rejects. */
  async exchange(request: HubRequest, isKeyed = true): Promise<Exchange> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await this.#exchange(request, isKeyed, signal);
    } catch (error) {
      const { code = '', isReused, isSent, message } = error as HubError;
      // The hub has closed the idle connection.
      if (isReused && code === 'ECONNRESET') {
        const again = await this.#exchange(request, isKeyed, signal).catch(() => undefined);
        if (again) return again;
      }
      const failure = signal.aborted
        ? `no response within ${this.#timeoutMs / 1000} s`
        : (reasons[code] ?? (message || code));
      return { failure, isSent: isSent === true };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange({ path, headers, body }: HubRequest, isKeyed: boolean, signal: AbortSignal): Promise<Exchange> {
    const request = this.#url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#url), {
        method: 'POST',
        agent: this.#agent,
        signal,
        headers: {
          'user-agent': 'signalbox',
          ...headers,
          ...(isKeyed && { authorization: `Bearer ${readHubKey(this.#hub)}` }),
          'content-length': Buffer.byteLength(body),
        },
      });
      let isSent = false;
      sent.on('finish', () => {
        isSent = true;
      });
      const fail = (error: Error): void => reject(Object.assign(error, { isReused: sent.reusedSocket, isSent }));
      sent.on('error', fail);
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes <= maxResponseBytes) chunks.push(chunk);
          else sent.destroy(new Error('the response is too long'));
        });
        response.on('error', fail);
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response;
          resolve({ status, retryAfter: received['retry-after'], text: Buffer.concat(chunks).toString() });
        });
      });
      sent.end(body);
    });
  }
}

interface HubError extends NodeJS.ErrnoException {
  /** True for a connection that had been used before. */
  isReused?: boolean;
  isSent?: boolean;
}
