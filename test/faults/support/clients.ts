import { Agent, request } from 'node:http';

const patienceMs = 30_000;

/** An acknowledged alert: its response was 200. */
export interface Acknowledged {
  message: string;
  id: string;
}

export interface Clients {
  /** The acknowledged alerts of each client, in the order of the responses. */
  acknowledged: Acknowledged[][];
  /** The number of responses by status. */
  statuses: Map<number, number>;
  /** Resolves when each client has sent its alerts, or the server has ended. */
  done: Promise<unknown>;
  /** Stops sending and waits for pending responses. */
  stop(): Promise<void>;
}

interface Options {
  count?: number;
  /** Distinguishes the messages of this run from those of others. */
  tag: string;
  /** The number of alerts per client. */
  limit?: number;
  /** Called as soon as an alert is acknowledged. */
  onAcknowledged?: () => void;
}

/** Sends alerts on `count` connections, each as soon as the previous one is answered, until the server has ended. */
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

/** The complete response, or undefined if the connection ended early. */
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
    // A server that hangs counts as ended.
    sent.setTimeout(patienceMs, () => sent.destroy());
    sent.end(JSON.stringify(body));
  });
