import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

/**
 * What undici can do at best: posts one text again and again, each time the last response is read.
 * `node undici-loop.js URL FILE CONCURRENCY`; the file holds headers and body as JSON.
 */
const [, , address = '', file = '', concurrency = '1'] = process.argv;
const url = new URL(address);
const { headers, body } = JSON.parse(readFileSync(file, 'utf8'));
const pool = new Pool(url.origin, { connections: Number(concurrency) });

const post = async (): Promise<never> => {
  for (;;) {
    const response = await pool.request({ path: url.pathname, method: 'POST', headers, body });
    await response.body.dump();
  }
};

await Promise.all(Array.from({ length: Number(concurrency) }, post));
