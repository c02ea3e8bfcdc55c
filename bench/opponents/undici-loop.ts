import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/**
 * Upper bound for deliveries: parses one line of a log after the other, builds and signs its request, and posts it as
 * soon as the previous response has been read. `via` is the name of the instance, and `secret` is in Base64.
 */
export const start = (url: string, concurrency: number, log: string, via: string, secret: string): void => {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  const key = Buffer.from(secret, 'base64');
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: concurrency });
  let next = 0;
  const post = async (): Promise<never> => {
    for (;;) {
      const { headers, body } = createRequest(lines[next++ % lines.length] ?? '', via, key);
      const response = await pool.request({ path, method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  for (let started = 0; started < concurrency; started += 1) void post();
};

const createRequest = (line: string, via: string, key: Buffer) => {
  const { id, time, source, level, message, hostname } = JSON.parse(line);
  const alert = { id, source, level, severity: level, message, hostname, format: 'native', via };
  const body = JSON.stringify({ type: 'alert', timestamp: time, ...alert });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = {
    'user-agent': 'signalbox',
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'idempotency-key': id,
    'webhook-signature': `v1,${signature}`,
    via,
  };
  return { headers, body };
};
