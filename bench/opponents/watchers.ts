import { get } from 'node:http';

/** Opens and reads event streams, as consoles that show alerts do. Resolves to the number of accepted streams. */
export const start = async (url: string, streams: number): Promise<number> => {
  const open = (): Promise<boolean> =>
    new Promise((resolve) => {
      const request = get(`${url}/api/events?topics=alerts`, { agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      request.on('error', () => resolve(false));
    });
  const accepted = await Promise.all(Array.from({ length: streams }, open));
  return accepted.filter(Boolean).length;
};
