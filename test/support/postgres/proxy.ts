import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { atEnd, type Scope } from '../scope.ts';

/** Last message of the server's response to a COMMIT: CommandComplete. */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1');

type Direction = 'to-server' | 'to-client';

export interface TcpProxy {
  port: number;
  /**
   * Holds back bytes in one direction, on all connections or on the connections that are open now. The bytes arrive
   * after `release`, even if the sender has closed its connection.
   */
  hold(direction: Direction, which: 'all' | 'open'): void;
  release(): void;
  /** Ends all connections on both sides, with RST or FIN. */
  cut(how: 'reset' | 'end'): void;
  /**
   * Resets a client's connection instead of passing on the next response that contains the bytes, by default the next
   * response to a COMMIT. Resolves after the reset.
   */
  cutBeforeAnswer(answer?: Buffer): Promise<void>;
}

/** Bytes in one direction of a connection. */
interface Flow {
  direction: Direction;
  isHeld: boolean;
  /** Passes on the waiting bytes, unless the flow is held. */
  flush(): void;
}

/** Starts a TCP proxy on a free port on 127.0.0.1 in front of a PostgreSQL server. */
export const startTcpProxy = async (t: Scope, serverPort: number): Promise<TcpProxy> => {
  const held = new Set<Direction>();
  const flows = new Set<Flow>();
  const sockets = new Set<Socket>();
  let awaited: { answer: Buffer; resolve(): void } | undefined;
  const isCut = (direction: Direction, piece: Buffer): boolean => {
    if (direction === 'to-server' || !awaited || !piece.includes(awaited.answer)) return false;
    awaited.resolve();
    awaited = undefined;
    return true;
  };
  const flow = (from: Socket, to: Socket, direction: Direction): void => {
    const waiting: Buffer[] = [];
    let isEnded = false;
    const flush = (): void => {
      if (self.isHeld) return;
      for (const piece of waiting.splice(0)) if (to.writable) to.write(piece);
      if (!isEnded) return;
      flows.delete(self);
      to.end();
    };
    const self: Flow = { direction, isHeld: held.has(direction), flush };
    flows.add(self);
    from.on('data', (piece) => {
      if (isCut(direction, piece)) {
        from.resetAndDestroy();
        to.resetAndDestroy();
        return;
      }
      waiting.push(piece);
      flush();
    });
    from.on('close', () => {
      isEnded = true;
      flush();
    });
    from.on('end', () => {
      isEnded = true;
      flush();
    });
  };
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ port: serverPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    track(client);
    track(upstream);
    flow(client, upstream, 'to-server');
    flow(upstream, client, 'to-client');
    upstream.on('error', () => client.resetAndDestroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (how: 'reset' | 'end'): void => {
    for (const socket of [...sockets]) how === 'reset' ? socket.resetAndDestroy() : socket.end();
  };
  atEnd(t, () => {
    server.close();
    // A connection that is still being opened cannot be reset and would keep this process alive.
    for (const socket of [...sockets]) socket.destroy().unref();
  });
  return {
    port: (server.address() as AddressInfo).port,
    hold: (direction, which) => {
      if (which === 'all') held.add(direction);
      for (const each of flows) each.isHeld ||= each.direction === direction;
    },
    release: () => {
      held.clear();
      for (const each of [...flows]) {
        each.isHeld = false;
        each.flush();
      }
    },
    cut,
    cutBeforeAnswer: (answer = committed) =>
      new Promise((resolve) => {
        awaited = { answer, resolve };
      }),
  };
};
