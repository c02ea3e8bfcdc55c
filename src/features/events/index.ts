import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { needs, openFor } from '../../auth/access.ts';
import { findExpiry } from '../../auth/guard.ts';
import { createUnavailable, ErrorBody, HttpError } from '../../http/errors.ts';
import { FairShares } from '../../http/fair-shares.ts';
import { skipTiming } from '../../http/response.ts';
import { defineFeature, type FeatureInstance, type Parts } from '../../kit/feature.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { SendEvent, Topic } from '../../kit/topic.ts';

/** Maximum number of open streams, shared fairly between addresses. */
const maxStreams = 128;

const noneFree = `All ${maxStreams} event streams, or all streams for your address, are in use: try again later`;

const EventQuery = Type.Object({
  topics: Type.String({
    default: '',
    description: 'One or more topics, separated by commas.',
    examples: ['alerts,tasks'],
  }),
});

const EventText = Type.String({ examples: ['event: host\ndata: {"cpu":0.25}\n\n'] });

/**
 * Creates the feature that streams the topics of other features as server-sent events. It sends a comment every
 * `commentMs` milliseconds.
 */
export const createEvents = (commentMs: number) =>
  defineFeature({
    name: 'events',
    profiles: [{ name: 'events', mounts: ['/'], summary: 'changes as server-sent events' }],
    settings: {},
    create: (parts) => createStreams(parts, commentMs),
  });

export const events = createEvents(15_000);

const createStreams = (
  { topics, authorize, meters, offers }: Pick<Parts, 'topics' | 'authorize' | 'meters' | 'offers'>,
  commentMs: number,
): FeatureInstance => {
  /** Open streams. Each has a function that returns false once the listener has lost access. */
  const streams = new Map<EventStream, () => boolean>();
  const shares = new FairShares(maxStreams);
  meters.reading('gauge', 'signalbox_event_streams', 'Open streams of events.', () => streams.size);
  let comments: NodeJS.Timeout | undefined;
  let isStopped = false;
  const add = (stream: EventStream, isAllowed: () => boolean): void => {
    streams.set(stream, isAllowed);
    comments ??= setInterval(() => {
      for (const each of streams.keys()) each.comment();
    }, commentMs).unref();
  };
  const remove = (stream: EventStream): void => {
    streams.delete(stream);
    if (streams.size > 0) return;
    clearInterval(comments);
    comments = undefined;
  };
  const route: Route = defineRoute({
    method: 'GET',
    path: '/api/events',
    ...openFor('events:read'),
    summary: 'Stream changes as server-sent events; each topic needs the right to read its data',
    schema: {
      operationId: 'streamEvents',
      querystring: EventQuery,
      response: {
        200: { content: { 'text/event-stream': { schema: EventText } } },
        401: ErrorBody,
        403: ErrorBody,
      },
    },
    handler: async (request, reply) => {
      const chosen = chooseTopics(request.query.topics, topics());
      const findRefusal = () =>
        chosen.map(([, topic]) => authorize(request, topic)).find((refusal) => refusal !== undefined);
      const isKnown = () => authorize(request, needs('events:read')) === undefined;
      const refusal = findRefusal();
      if (refusal) throw refusal;
      // A stream opened with a token ends when the token expires, even if none of its topics needs a login.
      const wasKnown = request.headers.authorization !== undefined && isKnown();
      const after = readLastEventId(request);
      if (after !== undefined) {
        await Promise.all(chosen.map(([, topic]) => topic.refresh?.()));
        // The listener may have lost access in the meantime.
        const late = findRefusal() ?? (wasKnown ? authorize(request, needs('events:read')) : undefined);
        if (late) throw late;
      }
      if (request.method === 'HEAD') return reply.headers(eventHeaders).send('');
      const part = isStopped ? undefined : shares.take(request.ip, { lose: () => stream.end() });
      if (!part) throw createUnavailable(noneFree, 'streams');
      skipTiming(reply);
      reply.hijack();
      const ends: (() => void)[] = [];
      const stream = openStream(reply.raw, () => {
        for (const end of ends) end();
        shares.release(part);
        remove(stream);
      });
      add(stream, () => (!wasKnown || isKnown()) && !findRefusal());
      const expiry = findExpiry(request);
      if (expiry !== undefined) {
        const timer = setTimeout(stream.end, Math.max(0, expiry * 1000 - Date.now())).unref();
        ends.push(() => clearTimeout(timer));
      }
      ends.push(...listen(stream, chosen, after));
      return reply;
    },
  });
  /** Ends the streams whose listeners have lost access. */
  const endLost = (): void => {
    for (const [stream, isAllowed] of streams) if (!isAllowed()) stream.end();
  };
  offers.accounts?.onChanged(endLost);
  return {
    profiles: { events: [route] },
    stop: () => {
      isStopped = true;
      for (const stream of streams.keys()) stream.end();
    },
    // Keys and users are reloaded before this hook.
    reload: () => {
      endLost();
      return [];
    },
  };
};

type Chosen = readonly (readonly [name: string, topic: Topic])[];

const chooseTopics = (query: string, known: ReadonlyMap<string, Topic>): Chosen => {
  const names = [...new Set(query.split(',').filter((name) => name !== ''))];
  const all = [...known.keys()].join(', ');
  if (names.length === 0) throw new HttpError('invalid', `topics must name at least one of ${all}`);
  return names.map((name) => {
    const topic = known.get(name);
    if (!topic) throw new HttpError('invalid', `There is no topic ${JSON.stringify(name)}; the topics are ${all}`);
    return [name, topic] as const;
  });
};

/** Id of the `hello` event for topics without ids. A client sends back the id when it reconnects. */
const noPlace = '-';

/** Returns the `Last-Event-ID` of a request. Undefined without the header. NaN if the id is not the seq of an alert. */
const readLastEventId = ({ headers }: FastifyRequest): number | undefined => {
  const id = headers['last-event-id'];
  if (typeof id !== 'string' || id === '') return undefined;
  return /^\d{1,15}$/.test(id) ? Number(id) : Number.NaN;
};

/**
 * Subscribes to the topics. Returns functions that unsubscribe. A client that reconnects gets `resync`, naming the
 * topics whose missed events cannot be sent again.
 */
const listen = (stream: EventStream, chosen: Chosen, after: number | undefined): (() => void)[] => {
  const resumed = chosen.filter(([, { lastId }]) => after !== undefined && after <= (lastId?.() ?? -1));
  const lost = chosen.filter((one) => !resumed.includes(one)).map(([name]) => name);
  const [id] = chosen.flatMap(([, { lastId }]) => lastId?.() ?? []);
  const place = resumed.length > 0 ? after : (id ?? after);
  const hello = JSON.stringify({ topics: chosen.map(([name]) => name) });
  // A client that gets no other event resumes from this event's id.
  void stream.send('hello', hello, place === undefined || Number.isNaN(place) ? noPlace : place);
  if (after !== undefined && lost.length > 0) void stream.send('resync', JSON.stringify({ topics: lost }));
  return chosen.map(([name, topic]) =>
    topic.subscribe(stream.senderOf(name), (resumed.length > 0 ? after : topic.lastId?.()) ?? 0),
  );
};

/** Maximum size in bytes of events waiting for a slow client. Beyond this limit, the client is disconnected. */
const maxBacklog = 1024 * 1024;

const eventHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Keeps proxies such as nginx from buffering the events.
  'x-accel-buffering': 'no',
};

type EventStream = ReturnType<typeof openStream>;

/**
 * Turns a response into a stream of server-sent events. `onClose` is called once, when the stream ends for any reason.
 */
const openStream = (response: ServerResponse, onClose: () => void) => {
  response.writeHead(200, eventHeaders);
  // Events of the current event-loop turn. They are written together.
  let ready = '';
  // Events for a slow client, joined into one string because each pending write costs Node a few hundred bytes.
  let waiting = '';
  let waitingBytes = 0;
  // Pending until the client has read the last write.
  let room: Promise<void> | undefined;
  let makeRoom = (): void => undefined;
  const isOver = () => response.writableEnded || response.destroyed;
  const write = (text: string): void => {
    if (response.write(text)) return;
    room = new Promise((resolve) => {
      makeRoom = resolve;
    });
  };
  const writeWaiting = (): void => {
    const text = waiting;
    waiting = '';
    waitingBytes = 0;
    room = undefined;
    makeRoom();
    if (text !== '' && !isOver()) write(text);
  };
  const writeReady = (): void => {
    const text = ready;
    ready = '';
    if (text === '' || isOver()) return;
    if (!room) {
      write(text);
      return;
    }
    waiting += text;
    waitingBytes += Buffer.byteLength(text);
    if (waitingBytes > maxBacklog) response.destroy();
  };
  const add = (text: string): void => {
    if (ready === '') queueMicrotask(writeReady);
    ready += text;
  };
  // Drops the events that a slow client has not read. After reconnecting, the client resumes from its last event.
  const end = (): void => {
    const isBehind = room !== undefined;
    writeReady();
    if (isBehind) response.destroy();
    else response.end();
  };
  const { socket } = response;
  // A client that disconnects closes its side first, so only the second write after that would fail.
  if (socket?.readableEnded) end();
  else socket?.once('end', end);
  response.on('drain', writeWaiting);
  response.once('close', () => {
    socket?.off('end', end);
    makeRoom();
    onClose();
  });
  const send = (name: string, data: string, id?: number | string): Promise<void> | undefined => {
    add(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${data}\n\n`);
    return room;
  };
  return {
    send,
    senderOf:
      (name: string): SendEvent =>
      (data, id) =>
        send(name, data, id),
    /** Sends a comment. It shows that the server is up and keeps proxies from closing an idle connection. */
    comment: () => add(':\n\n'),
    end,
  };
};
