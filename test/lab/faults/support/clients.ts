import { Agent, request } from 'node:http';
import { alerts, type Kept, type Operation, type Step } from './kept.ts';

const patienceMs = 30_000;

/** Acknowledged alert or new task. */
export interface Acknowledged {
  message: string;
  id: string;
}

export interface Clients {
  /** Requests of each client, in order. */
  sent: Operation[][];
  /** Acknowledged requests of each client, in the order of the responses. */
  acknowledged: Acknowledged[][];
  /** Number of responses by status. 200 stands for every success. */
  statuses: Map<number, number>;
  /** Resolves when all clients have sent their records, or the server has ended. */
  done: Promise<unknown>;
  /** Stops sending and waits for pending responses. */
  stop(): Promise<void>;
}

interface Options {
  kept?: Kept;
  count?: number;
  /** Text that distinguishes this run's messages from others. */
  tag: string;
  /** Number of records per client. */
  limit?: number;
  /** Called after each acknowledged request. */
  onAcknowledged?: () => void;
}

/**
 * Sends records on `count` connections, each request after the response to the previous one, until the server has
 * ended.
 */
export const startClients = (
  url: string,
  { kept = alerts, count = 8, tag, limit = Number.POSITIVE_INFINITY, onAcknowledged }: Options,
): Clients => {
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const sent: Operation[][] = Array.from({ length: count }, () => []);
  const acknowledged: Acknowledged[][] = sent.map(() => []);
  const statuses = new Map<number, number>();
  let isStopped = false;
  /** Sends a request. Resolves to true after a response. */
  const send = async (client: number, operation: Operation, { method, path, body }: Omit<Step, 'kind'>) => {
    sent[client]?.push(operation);
    const answer = await ask({ url, agent, method, path, body });
    if (!answer) return false;
    const status = answer.status === 201 ? 200 : answer.status;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 200) return true;
    operation.isAcknowledged = true;
    operation.id ??= readId(answer.text);
    acknowledged[client]?.push({ message: operation.message, id: operation.id });
    onAcknowledged?.();
    return true;
  };
  const run = async (client: number): Promise<void> => {
    for (let number = 0; number < limit && !isStopped; number++) {
      const message = `${tag}-${client}-${number}`;
      const created: Operation = {
        kind: 'create',
        message,
        id: undefined,
        text: `${message}.1`,
        isAcknowledged: false,
      };
      if (!(await send(client, created, { method: 'POST', ...kept.create(message) }))) return;
      if (created.id === undefined) continue;
      for (const step of kept.change(created.id, message)) {
        if (!(await send(client, { ...created, ...step, isAcknowledged: false }, step))) return;
      }
    }
  };
  const done = Promise.all(sent.map((_, client) => run(client)));
  return {
    sent,
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

/** Returns the record's id from a successful response. */
export const readId = (text: string): string => {
  const { id, Id, ids } = JSON.parse(text) as { id?: string; Id?: number; ids?: string[] };
  return String(id ?? Id ?? ids?.[0]);
};

interface Asked {
  url: string;
  agent: Agent;
  method: string;
  path: string;
  body: object | undefined;
}

/** Resolves to the complete response, or to undefined if the connection ended early. */
const ask = ({ url, agent, method, path, body }: Asked): Promise<{ status: number; text: string } | undefined> =>
  new Promise((resolve) => {
    const sent = request(`${url}${path}`, { method, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('close', () => resolve(response.complete ? { status: response.statusCode ?? 0, text } : undefined));
    });
    sent.on('error', () => resolve(undefined));
    // A server that hangs counts as ended.
    sent.setTimeout(patienceMs, () => sent.destroy());
    sent.end(body && JSON.stringify(body));
  });
