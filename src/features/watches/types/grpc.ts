import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { UncheckedAddress } from '../../../kit/reach.ts';
import { defineWatchType, toMsText } from '../watch-type.ts';
import { converse } from './conversation.ts';
import { toFault } from './failures.ts';
import { PhaseClock, toSeenText } from './phases.ts';
import { openSocket, toBareHost, toServerName } from './socket.ts';
import { findTrustProblem, readTrust, trustSettings } from './trust.ts';

/** Method of gRPC's health service, and the states that the service reports. */
const method = '/grpc.health.v1.Health/Check';
const states = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

/** gRPC status codes by number. */
const codes =
  'OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED'.split(
    ' ',
  );

/** Maximum size of a response in bytes. A response usually has seven. */
const maxBytes = 10_000;

/** Checks the health that a gRPC server reports for itself or for one of its services. */
export const grpcWatch = defineWatchType({
  name: 'grpc',
  scope: () => 'network',
  keys: ['host', 'port', 'service', 'tls', ...trustSettings],
  required: ['host', 'port'],
  limit: 'optional',
  defaultLevel: 'ERROR',
  every: 60,
  findProblem: findTrustProblem,
  check: async (watch, { reach }, signal) => {
    const { port = 0, service = '', tls = false, limit } = watch;
    const host = toBareHost(watch.host ?? '');
    const name = toServerName({ host, port });
    const thing = service === '' ? name : `${name} ${service}`;
    const clock = new PhaseClock();
    const access = { reach, clock, ...(await readTrust(watch)) };
    const begun = performance.now();
    const fault = await openSocket({ host, port }, { isTls: tls, protocols: ['h2'] }, access, signal)
      .then((socket) => {
        const ask = () => askHealth(socket, `${tls ? 'https' : 'http'}://${name}`, service, clock);
        return converse(socket, ask, signal);
      })
      .catch((error) => `fails: ${toFault(error)}`);
    if (fault !== undefined) return [{ thing, isBad: true, words: `${thing} ${fault}`, seen: clock.see() }];
    const ms = performance.now() - begun;
    const common = { thing, words: `${thing} is SERVING after ${toMsText(ms)}`, seen: clock.see() };
    return [
      limit === undefined ? { ...common, isBad: false, figure: ms } : { ...common, figure: ms, toText: toMsText },
    ];
  },
});

/** Response to a gRPC call. */
interface Answer {
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  body: Buffer;
}

/** Resolves to the fault that the server reports. Undefined for a healthy service. Rejects if there is no answer. */
const askHealth = async (
  socket: Socket,
  authority: string,
  service: string,
  clock: PhaseClock,
): Promise<string | undefined> => {
  if ('alpnProtocol' in socket && (socket as TLSSocket).alpnProtocol !== 'h2')
    throw new Error('the server does not support HTTP/2');
  // HTTP/2 takes memory, and most servers do not need it.
  const { connect } = await import('node:http2');
  const session = connect(authority, { createConnection: () => socket });
  try {
    const answer = await call(session, service, clock);
    clock.markEnd();
    return findFault(answer);
  } finally {
    session.destroy();
  }
};

const call = (session: ClientHttp2Session, service: string, clock: PhaseClock): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const closed = (): void => reject(new Error('the connection was closed'));
    session.on('error', reject).on('close', closed);
    const type = { 'content-type': 'application/grpc', te: 'trailers', 'user-agent': 'signalbox' };
    const stream = session.request({ ':method': 'POST', ':path': method, ...type });
    const answer: Answer = { headers: {}, trailers: {}, body: Buffer.alloc(0) };
    stream.on('response', (headers) => {
      clock.markFirstByte();
      answer.headers = headers;
    });
    stream.on('trailers', (trailers) => {
      answer.trailers = trailers;
    });
    stream.on('data', (chunk: Buffer) => {
      answer.body = Buffer.concat([answer.body, chunk]);
      if (answer.body.length > maxBytes) reject(new Error('the server sends too much data'));
    });
    stream
      .on('end', () => resolve(answer))
      .on('error', reject)
      .on('close', closed);
    stream.end(toMessage(service));
  });

/** Encodes a HealthCheckRequest with its prefix: a flag and the length. */
const toMessage = (service: string): Buffer => {
  const message = new BinaryWriter().tag(1, WireType.LengthDelimited).string(service).finish();
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

const findFault = ({ headers, trailers, body }: Answer): string | undefined => {
  if (headers[':status'] !== undefined && Number(headers[':status']) !== 200) return `responded ${headers[':status']}`;
  const last = trailers['grpc-status'] === undefined ? headers : trailers;
  const code = Number(last['grpc-status']);
  if (code !== 0) {
    const message = toSeenText(decode(String(last['grpc-message'] ?? '')));
    // A server without the health service has an unknown health.
    const words = `responded ${codes[code] ?? 'without a gRPC status'}${message && `: ${message}`}`;
    if (codes[code] === 'UNIMPLEMENTED') throw new UncheckedAddress(`the server reports no health (${words})`);
    return words;
  }
  const state = readState(body);
  return state === 'SERVING' ? undefined : `is ${state}`;
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Reads the status of a HealthCheckResponse. */
const readState = (body: Buffer): string => {
  try {
    const reader = new BinaryReader(body.subarray(5, 5 + body.readUInt32BE(1)));
    let state = 0;
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field === 1 && type === WireType.Varint) state = reader.int32();
      else reader.skip(type, field);
    }
    return states[state] ?? `in state ${state}`;
  } catch {
    return 'unreadable';
  }
};
