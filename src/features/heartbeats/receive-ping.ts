import { stripVTControlCharacters } from 'node:util';
import { HttpError } from '../../http/errors.ts';
import { StoreUnavailable } from '../../lib/expected-errors.ts';
import { isUuid } from './definition.ts';
import type { HeartbeatKeeper } from './keeper.ts';
import type { KnownHeartbeat } from './kind.ts';
import type { Ping } from './records.ts';
import type { HeartbeatStore } from './store.ts';

/** Maximum number of bytes kept from the end of a body. */
const maxOutputBytes = 10_000;

/** Definition of a heartbeat that is created by a ping. */
const defaultDefinition = { period: 24 * 60 * 60 };

interface PingParts {
  store: HeartbeatStore;
  keeper: HeartbeatKeeper;
  clock: () => Date;
  count(type: Ping['type']): void;
  /** Throws an HttpError if the caller does not have the given right. */
  assertAllowed(right: 'heartbeats:ping' | 'heartbeats:create'): void;
}

/** Ping as received. `rid` and `create` are query parameters. */
interface ReceivedPing {
  address: string;
  signal: string | undefined;
  rid: unknown;
  create: unknown;
  body: unknown;
  /** Returns the caller, who becomes the author if the ping creates a heartbeat. */
  readCaller(): string;
}

/**
 * Stores a ping. Resolves to true if the ping created its heartbeat. Rejects with an HttpError if the heartbeat is
 * unknown or the caller may not ping it.
 */
export const receivePing = async (parts: PingParts, received: ReceivedPing): Promise<boolean> => {
  const { store, clock, count } = parts;
  const sent = readPing(received);
  const { known, isNew } = await findHeartbeat(parts, received);
  await store.append({ ...sent, name: known.name, since: known.since, at: clock().getTime() });
  count(sent.type);
  return isNew;
};

const readPing = ({ signal, rid, body }: ReceivedPing): Ping => {
  if (rid !== undefined && !(typeof rid === 'string' && isUuid(rid)))
    throw new HttpError('invalid', 'rid must be a UUID');
  const output = Buffer.isBuffer(body) ? toOutput(body) : '';
  return {
    ...readSignal(signal),
    ...(rid !== undefined && { rid: rid.toLowerCase() }),
    ...(output !== '' && { output }),
  };
};

const readSignal = (signal: string | undefined): Ping => {
  if (signal === undefined) return { type: 'success' };
  if (signal === 'start' || signal === 'log') return { type: signal };
  if (signal === 'fail') return { type: 'failure' };
  // Windows exit codes are signed or unsigned 32-bit numbers, such as -1073741510 or 3221225786.
  const exitCode = /^-?\d{1,10}$/.test(signal) ? Number(signal) + 0 : Number.NaN;
  if (exitCode >= -(2 ** 31) && exitCode < 2 ** 32) return { type: exitCode === 0 ? 'success' : 'failure', exitCode };
  throw new HttpError('invalid', 'The address must be followed by start, fail, log or a 32-bit exit code');
};

/** Converts the end of a body to text without control characters. The body may contain any bytes. */
const toOutput = (body: Buffer): string => {
  const end = body.subarray(-maxOutputBytes);
  // Starts at a whole character.
  const start =
    body.length > maxOutputBytes
      ? Math.max(
          0,
          end.subarray(0, 4).findIndex((byte) => byte >> 6 !== 0b10),
        )
      : 0;
  return stripVTControlCharacters(end.subarray(start).toString())
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\t\n]/gu, '')
    .trimEnd();
};

/**
 * Finds or creates the heartbeat that a ping is for. Throws an HttpError if there is no such heartbeat, or if the
 * caller may not ping or create it.
 */
const findHeartbeat = async (
  { keeper, store, assertAllowed }: PingParts,
  { address, create, readCaller }: ReceivedPing,
): Promise<{ known: KnownHeartbeat; isNew: boolean }> => {
  if (isUuid(address)) {
    const known = keeper.findByAddress(address);
    if (known) return { known, isNew: false };
    assertKnown(store);
    throw new HttpError('not-found', 'There is no heartbeat at this address');
  }
  assertAllowed('heartbeats:ping');
  const known = keeper.find(address);
  if (known) return { known, isNew: false };
  assertKnown(store);
  if (create !== '1') {
    throw new HttpError(
      'not-found',
      `There is no heartbeat ${address.slice(0, 100)}: add ?create=1 to create the heartbeat`,
    );
  }
  // Creating a heartbeat changes a setting. The right to ping does not include that.
  assertAllowed('heartbeats:create');
  return keeper.findOrCreate(address, defaultDefinition, readCaller());
};

/** Throws StoreUnavailable until heartbeats have been read. Jobs then retry their pings. */
const assertKnown = (store: HeartbeatStore): void => {
  if (!store.isReady) throw new StoreUnavailable('Heartbeats cannot be read at the moment; try again in a second');
};
