import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type HubSetting, parseHubUrl, readHubKey } from '../../kit/hub.ts';
import { connectionFailures, forUntrusted } from '../../lib/network-failures.ts';
import { isObject, parseJson } from '../../lib/parse-json.ts';
import { readSmallFileSync } from '../../lib/small-file.ts';

/** Timeout for an exchange in milliseconds, from the connection attempt to the end of the response. */
const exchangeMs = 10_000;

/** Maximum bytes read from a response, which may contain all pushed watches. */
const maxResponseBytes = 16 * 1024 * 1024;

/** Response from the hub; the status is 0 if there is none. */
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

  /** Sends a compressed JSON body, including the key unless `isKeyed` is false. Never rejects. */
  async send(path: string, content: object, isKeyed = true): Promise<HubReply> {
    const body = await compress(JSON.stringify(content));
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await this.#send(path, body, isKeyed, signal);
    } catch (error) {
      const { code = '', isReused, message } = error as NodeJS.ErrnoException & { isReused?: boolean };
      // The hub has closed the idle connection.
      if (isReused && code === 'ECONNRESET') {
        const again = await this.#send(path, body, isKeyed, signal).catch(() => undefined);
        if (again) return again;
      }
      const clause = signal.aborted
        ? `no response within ${this.#timeoutMs / 1000} s`
        : (reasons[code] ?? (message || code));
      return { status: 0, body: {}, reason: `${this.#url.origin}: ${clause}` };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(path: string, body: Buffer, isKeyed: boolean, signal: AbortSignal): Promise<HubReply> {
    const request = this.#url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.#url), {
        method: 'POST',
        agent: this.#agent,
        signal,
        headers: {
          ...(isKeyed && { authorization: `Bearer ${readHubKey(this.#hub)}` }),
          'content-type': 'application/json',
          'content-encoding': 'gzip',
          'content-length': body.length,
          'user-agent': 'signalbox',
        },
      });
      const fail = (error: Error): void => reject(Object.assign(error, { isReused: sent.reusedSocket }));
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
          const parsed = parseJson(Buffer.concat(chunks).toString());
          const answer = isObject(parsed) ? parsed : {};
          const { statusCode: status = 0 } = response;
          const said = typeof answer['error'] === 'string' ? `: ${answer['error'].slice(0, 300)}` : '';
          resolve({ status, body: answer, reason: `${this.#url.origin} responded ${status}${said}` });
        });
      });
      sent.end(body);
    });
  }
}
