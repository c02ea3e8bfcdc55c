import type { RunningPeer } from '../peers/peer.ts';

interface Crowd {
  /** Records acknowledged so far. */
  acknowledged: string[];
  /** Stops sending; resolves when the last responses have arrived. */
  stop(): Promise<void>;
}

/** Starts clients that each send one record after the other until one is not acknowledged. */
export const startCrowd = (peer: RunningPeer, size: number, tag: string): Crowd => {
  const acknowledged: string[] = [];
  let isStopped = false;
  const run = async (client: number): Promise<void> => {
    const connection = await peer.connect().catch(() => undefined);
    for (let number = 0; connection && !isStopped; number += 1) {
      const record = `${tag}-${client}-${number}`;
      if (!(await connection.send(record))) break;
      acknowledged.push(record);
    }
    connection?.close();
  };
  const done = Promise.all(Array.from({ length: size }, (_, client) => run(client)));
  return {
    acknowledged,
    stop: async () => {
      isStopped = true;
      await done;
    },
  };
};
