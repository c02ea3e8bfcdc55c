import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd, type Scope } from '../../support/scope.ts';

export interface Line {
  url: string;
  /**
   * Ends all connections and refuses new connections until `restore`. The browser's offline mode would keep some
   * connections open.
   */
  cut(): void;
  restore(): void;
}

/** Starts a TCP proxy in front of the server. Its connections can be cut. */
export const startLine = async (scope: Scope, target: string): Promise<Line> => {
  const { port } = new URL(target);
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.resetAndDestroy();
    const far = connect(Number(port), '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => sockets.delete(socket));
      socket.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  atEnd(scope, () => {
    server.close();
    end();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
      end();
    },
    restore: () => {
      isCut = false;
    },
  };
};
