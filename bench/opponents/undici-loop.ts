import { Pool } from 'undici';

/**
 * Posts a string repeatedly, each time as soon as the previous response has been read. No other way to use undici is
 * faster.
 */
export const start = (url: string, concurrency: number, headers: Record<string, string>, body: string): void => {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: concurrency });
  const post = async (): Promise<never> => {
    for (;;) {
      const response = await pool.request({ path, method: 'POST', headers, body });
      await response.body.dump();
    }
  };
  for (let started = 0; started < concurrency; started += 1) void post();
};
