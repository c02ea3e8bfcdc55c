import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { startReceiver } from '../../../support/receiver.ts';
import { atEnd } from './ending.ts';

const longestDelayMs = 60;

export interface BadReceiver {
  url: string;
  /** Bodies of complete deliveries by `webhook-id`, in the order of each id's first delivery. */
  bodies: Map<string, string[]>;
  /** Makes the receiver answer every further delivery with an immediate 200. */
  recover(): void;
  close(): Promise<void>;
}

/** Starts a webhook receiver that fails, hangs, breaks connections, and responds late. */
export const startBadReceiver = async (t: TestContext, random: () => number): Promise<BadReceiver> => {
  const bodies = new Map<string, string[]>();
  let isGood = false;
  const behave = (response: ServerResponse): void => {
    const chance = isGood ? 1 : random();
    if (chance < 0.05) response.writeHead(500).end('no');
    else if (chance < 0.08) response.writeHead(503, { 'retry-after': '0' }).end();
    else if (chance < 0.11) response.destroy();
    // A response that does not end counts as delivered after 15 s. Servers are killed before that.
    else if (chance < 0.115) response.writeHead(200).write('...');
    else if (chance < 0.12) return;
    else if (chance < 0.2) setTimeout(() => response.end(), random() * longestDelayMs);
    else response.end();
  };
  const { url, close } = await startReceiver({ after: (step) => atEnd(t, step) }, (response, { headers, body }) => {
    const id = String(headers['webhook-id']);
    bodies.set(id, [...(bodies.get(id) ?? []), body]);
    behave(response);
  });
  const recover = (): void => {
    isGood = true;
  };
  return { url: `${url}/`, bodies, recover, close };
};
