import { ClientError, isPassing } from './error.ts';
import { readPieces } from './pieces.ts';
import { pause, toDelay } from './wait.ts';

/** One server-sent event. */
export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: string;
}

interface Reading {
  /** Called for every piece of the stream, comments included. */
  onContact?: () => void;
  /** The stream counts as broken if nothing comes for so many milliseconds. */
  silence?: number;
}

/** Reads server-sent events until the stream ends; throws if it breaks or is aborted. */
export async function* readEvents(
  response: Response,
  { onContact, silence }: Reading = {},
): AsyncGenerator<ServerEvent> {
  let rest = '';
  for await (const piece of readPieces(response, silence)) {
    onContact?.();
    const blocks = (rest + piece).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) yield event;
    }
  }
}

/** The event of one block of lines; undefined for comments. */
const parseEvent = (block: string): ServerEvent | undefined => {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name !== undefined) fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
  }
  const { id, event = 'message', data } = fields;
  return data === undefined && event === 'message' ? undefined : { id, event, data: data ?? '' };
};

/** The server sends a comment every 15 s. */
const longestSilence = 45_000;
const longestDelay = 30_000;

export interface Following {
  /** Opens the stream after the event with this id; rejects with a ClientError. */
  open(lastId: string | undefined): Promise<Response>;
  lastId: string | undefined;
  signal: AbortSignal;
}

/**
 * Events for as long as the caller takes them, over as many connections as that needs. Throws if the first connection
 * fails, if the server refuses a later one for good, and the signal's reason once that is aborted.
 */
export async function* followEvents({ open, lastId, signal }: Following): AsyncGenerator<ServerEvent> {
  let wasOpen = false;
  for (let failures = 0; ; failures += 1) {
    let retryAfter = 0;
    let response: Response | undefined;
    try {
      response = await open(lastId);
      wasOpen = true;
    } catch (error) {
      if (!(wasOpen && error instanceof ClientError && isPassing(error))) throw error;
      retryAfter = (error.retryAfter ?? 0) * 1000;
    }
    try {
      for await (const event of response ? readEvents(response, { silence: longestSilence }) : []) {
        failures = 0;
        lastId = event.id ?? lastId;
        if (event.event !== 'hello') yield event;
      }
    } catch {
      signal.throwIfAborted();
    }
    await pause(Math.max(retryAfter, toDelay(failures, longestDelay)), signal);
  }
}
