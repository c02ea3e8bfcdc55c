import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { atEnd, type Scope } from './scope.ts';
import { waitUntil } from './wait.ts';

interface ReceivedEvent {
  name: string;
  id: string | undefined;
  data: Record<string, unknown>;
}

export interface EventClient {
  status: number;
  headers: IncomingMessage['headers'];
  /** Returns the text received so far. */
  text(): string;
  events(): ReceivedEvent[];
  /** Waits until `count` events with this name have arrived, and returns them. */
  waitFor(name: string, count?: number): Promise<ReceivedEvent[]>;
  /** Resolves once the server has ended the stream. */
  ended: Promise<void>;
  pause(): void;
  close(): void;
}

interface Options {
  token?: string;
  lastEventId?: string | undefined;
  /** Local address to connect from. */
  from?: string;
  headers?: Record<string, string>;
}

/** Listens to /api/events over a separate connection. The connection is closed when the test ends. */
export const openEvents = (
  t: Scope,
  url: string,
  topics: string,
  { token, lastEventId, from, headers: others }: Options = {},
): Promise<EventClient> =>
  new Promise((resolve, reject) => {
    const headers = {
      ...others,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    };
    const sent = request(
      `${url}/api/events?topics=${topics}`,
      { headers, agent: false, localAddress: from },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          text += chunk;
        });
        const ended = new Promise<void>((done) => response.once('close', done));
        response.on('error', () => undefined);
        const events = () => parseEvents(text);
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: () => text,
          events,
          waitFor: async (name, count = 1) => {
            const find = () => events().filter((event) => event.name === name);
            await waitUntil(`${count} events ${name}`, () => find().length >= count);
            return find();
          },
          ended,
          pause: () => void response.pause(),
          close: () => void sent.destroy(),
        });
      },
    );
    sent.once('error', reject);
    sent.end();
    atEnd(t, () => void sent.destroy());
  });

/** Parses the complete events of a stream. Comments are omitted. */
const parseEvents = (text: string): ReceivedEvent[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .map((block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2))))
    .filter((fields) => 'event' in fields)
    .map(({ event, id, data }) => ({ name: event, id, data: JSON.parse(data) }));
