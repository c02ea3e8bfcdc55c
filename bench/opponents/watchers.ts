import { once } from 'node:events';
import { get } from 'node:http';

/** Consoles that watch topics: event streams that are read and counted. Sends how many the server accepted. */
export interface WatchOrder {
  url: string;
  streams: number;
}

const [{ url, streams }] = (await once(process, 'message')) as [WatchOrder];

const open = (): Promise<boolean> =>
  new Promise((resolve) => {
    const request = get(`${url}/api/events?topics=alerts`, { agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('error', () => resolve(false));
  });

const accepted = await Promise.all(Array.from({ length: streams }, open));
process.send?.(accepted.filter(Boolean).length);
