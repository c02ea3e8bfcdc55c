import { Agent, request } from 'node:http';

const patienceMs = 30_000;

/** An alert that was answered 200. */
export interface Acknowledged {
  message: string;
  id: string;
}

export interface Clients {
  /** What each client had acknowledged, in the order of its answers. */
  acknowledged: Acknowledged[][];
  /** Every answer's status and how often it came. */
  statuses: Map<number, number>;
  /** Resolves when each has sent its alerts, or the server is gone. */
  done: Promise<unknown>;
  /** Lets running requests end, sends no more. */
  stop(): Promise<void>;
}

interface Options {
  count?: number;
  /** Makes messages of this run different from those of others. */
  tag: string;
  /** Stop after this many alerts of each client. */
  limit?: number;
  /** Called as soon as an alert is known to be acknowledged. */
  onAcknowledged?: () => void;
}

/** Sends alerts on `count` connections, each the next one as soon as the last is answered, until the server is gone. */
export const startClients = (
  url: string,
  { count = 8, tag, limit = Number.POSITIVE_INFINITY, onAcknowledged }: Options,
): Clients => {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const acknowledged: Acknowledged[][] = Array.from({ length: count }, () => []);
  const statuses = new Map<number, number>();
  let isStopped = false;
  const run = async (list: Acknowledged[], client: number): Promise<void> => {
    for (let number = 0; number < limit && !isStopped; number++) {
      const message = `${tag}-${client}-${number}`;
      const answer = await post(url, agent, { source: 'faults', level: 'ERROR', message, hostname: 'h' });
      if (!answer) return;
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      if (answer.status === 200) {
        list.push({ message, id: JSON.parse(answer.text).id });
        onAcknowledged?.();
      }
    }
  };
  const done = Promise.all(acknowledged.map(run));
  return {
    acknowledged,
    statuses,
    done,
    stop: async () => {
      isStopped = true;
      await done;
      agent.destroy();
    },
  };
};

/** The whole response, or undefined if the connection ended before it was complete. */
const post = (url: string, agent: Agent, body: object): Promise<{ status: number; text: string } | undefined> =>
  new Promise((resolve) => {
    const sent = request(`${url}/api/alert`, { method: 'POST', agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('close', () => resolve(response.complete ? { status: response.statusCode ?? 0, text } : undefined));
    });
    sent.on('error', () => resolve(undefined));
    // a server that hangs counts as gone
    sent.setTimeout(patienceMs, () => sent.destroy());
    sent.end(JSON.stringify(body));
  });
