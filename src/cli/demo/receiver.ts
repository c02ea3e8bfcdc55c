import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseObject } from '../client/server.ts';
import { readInput } from '../stdio.ts';
import type { Narrator } from './narrator.ts';

const mostBytes = 1024 * 1024;

interface Delivery {
  type?: string;
  data?: { message?: { title?: string } };
}

/** The chat and the phones of the demonstration: a server for webhooks, which prints what it receives. */
export const startReceiver = async ({ tell }: Pick<Narrator, 'tell'>) => {
  const server = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    const body = await readInput(request, mostBytes).catch(() => undefined);
    response.end();
    const { type, data } = parseObject(body?.toString() ?? '') as Delivery;
    const title = data?.message?.title;
    const isRinging = name.endsWith('-phone') && type !== 'incident.resolved';
    if (title !== undefined)
      tell('notified', name, `${isRinging ? 'rings, because nobody takes it' : 'gets'}: ${title}`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    /** A destination's address is this and its name. */
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async (): Promise<void> => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
