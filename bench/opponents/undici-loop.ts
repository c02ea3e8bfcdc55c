import { once } from 'node:events';
import { Pool } from 'undici';

/** What undici can do at best: posts one text again and again, each time the last response is read. */
export interface LoopOrder {
  url: string;
  headers: Record<string, string>;
  body: string;
  concurrency: number;
}

const [order] = (await once(process, 'message')) as [LoopOrder];
const { headers, body, concurrency } = order;
const url = new URL(order.url);
const pool = new Pool(url.origin, { connections: concurrency });

process.send?.('posting');

const post = async (): Promise<never> => {
  for (;;) {
    const response = await pool.request({ path: url.pathname, method: 'POST', headers, body });
    await response.body.dump();
  }
};

await Promise.all(Array.from({ length: concurrency }, post));
