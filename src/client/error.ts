import type { ClientError as Shape } from './types.ts';

interface Details {
  response?: Response | undefined;
  body?: unknown;
  cause?: unknown;
}

/** A request that has failed; see types.ts. */
export class ClientError extends Error implements Shape {
  readonly code: Shape['code'];
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly body: unknown;
  readonly requestId: string | undefined;

  constructor(code: Shape['code'], message: string, { response, body, cause }: Details = {}) {
    super(message, { cause });
    this.name = 'ClientError';
    this.code = code;
    this.status = response?.status ?? 0;
    this.retryAfter = toSeconds(response?.headers.get('Retry-After'));
    this.body = body;
    this.requestId = readText(body, 'requestId');
  }
}

/** The error of a response that is not 2xx. */
export const toRefusal = (name: string, response: Response, body: unknown): ClientError =>
  new ClientError('status', readText(body, 'error') ?? `${name}: status ${response.status}`, { response, body });

/** The value of a JSON text that a response had; throws a ClientError for other text. */
export const parseJson = (name: string, text: string, response?: Response): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ClientError('format', `${name}: the response is not JSON`, { response, body: text, cause });
  }
};

/**
 * True if the same request may succeed later. A server of version 1.0 responds 409 with Retry-After while the first request
 * with an idempotency key runs.
 */
export const isPassing = ({ code, status, retryAfter }: ClientError): boolean =>
  code === 'connection' ||
  code === 'timeout' ||
  (code === 'status' && ([429, 502, 503, 504].includes(status) || (status === 409 && retryAfter !== undefined)));

const readText = (body: unknown, name: string): string | undefined => {
  const value = (body as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** `Retry-After` has seconds, or a date if a proxy has written it. */
const toSeconds = (text: string | null | undefined): number | undefined => {
  if (!text) return undefined;
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
};
