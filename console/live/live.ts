import { effect, signal } from '@preact/signals';
import { ClientError, parseResponseJson } from '../../src/client/send.ts';
import { readEvents, type ServerEvent } from '../../src/client/streams.ts';
import { sessionTokens, toAddress, transmit } from '../api.ts';
import { findRoute, isMounted, type RouteName } from '../routes.ts';
import { session } from '../session.ts';
import {
  addSubscriber,
  type LiveTopic,
  listTopics,
  publish,
  removeSubscriber,
  resync,
  type Subscriber,
} from './topics.ts';

/**
 * State of the connection. `live`: events arrive. `polling`: requests every 2 s. `stale`: connected, but no data
 * arrives.
 */
export type LiveState = 'connecting' | 'live' | 'polling' | 'reconnecting' | 'stale' | 'offline';

export const liveState = signal<LiveState>('connecting');

/** Time of the last data from the server, in milliseconds. */
export const lastContact = signal(Date.now());

const second = 1000;
const pollEvery = 2 * second;
/** Milliseconds without data before a separate request checks the connection. */
const silence = 4 * second;
/** Milliseconds to wait for a first event before a buffering proxy is assumed. */
const openingTime = 4 * second;
/** Milliseconds before reconnecting. They double each time, up to `longestPause`, until a connection stays open. */
const shortestPause = 50;
const longestPause = 10 * second;
/** Milliseconds of polling before the stream is tried again. */
const polledFor = 60 * second;
/**
 * Milliseconds until a hidden tab closes its stream. Browsers allow only six connections per server across all tabs.
 */
const hiddenFor = 10 * second;

const probes: RouteName[] = ['getLivez', 'getServerHealth', 'getReadiness'];

/** Aborts the current wait or stream when the topics or the session change. */
let interruption = new AbortController();
/** Id of the last event. The stream resumes from there. */
let lastId: string | undefined;
let pollUntil = 0;
let nextPause = shortestPause;
let isScheduled = false;
let isPaused = document.hidden;

/** Subscribes to a topic. Returns a function that unsubscribes. */
export const subscribe = <T extends LiveTopic>(topic: T, subscriber: Subscriber<T>): (() => void) => {
  addSubscriber(topic, subscriber);
  interrupt();
  return () => {
    removeSubscriber(topic, subscriber);
    interrupt();
  };
};

/** Connects, and reconnects for as long as the page is open. */
export const startLive = async (): Promise<never> => {
  effect(() => {
    session.value;
    interrupt();
  });
  pauseWhileHidden();
  for (;;) {
    interruption = new AbortController();
    const topics = listTopics();
    if (isPaused) await new Promise((resolve) => interruption.signal.addEventListener('abort', resolve));
    else if (topics.length > 0 && isMounted('streamEvents') && Date.now() >= pollUntil)
      await follow(topics, interruption.signal);
    else await poll(interruption.signal);
  }
};

const pauseWhileHidden = (): void => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const set = (paused: boolean) => {
    if (paused !== isPaused) interrupt();
    isPaused = paused;
  };
  document.addEventListener('visibilitychange', () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => set(true), hiddenFor);
    else set(false);
  });
};

/** Restarts the stream once after several changes, for example when one screen replaces another. */
const interrupt = (): void => {
  if (isScheduled) return;
  isScheduled = true;
  setTimeout(() => {
    isScheduled = false;
    interruption.abort();
  });
};

const follow = async (topics: LiveTopic[], interrupted: AbortSignal): Promise<void> => {
  const startedAt = Date.now();
  const before = session.peek();
  const own = new AbortController();
  const signal = AbortSignal.any([interrupted, own.signal]);
  let isOpen = false;
  let watch = setTimeout(() => {
    pollUntil = Date.now() + polledFor;
    own.abort();
  }, openingTime);
  const onContact = () => {
    clearTimeout(watch);
    isOpen = true;
    confirm('live');
    watch = setTimeout(check, silence);
  };
  /** Closes a silent stream if the server also fails to answer a request. */
  const check = async () => {
    const isAlive = await isThere();
    if (signal.aborted) return;
    if (isAlive) return onContact();
    liveState.value = 'stale';
    own.abort();
  };
  try {
    const response = await openStream(topics, signal);
    for await (const event of readEvents(response, { onContact })) dispatch(event);
    if (!interrupted.aborted) liveState.value = 'reconnecting';
  } catch (error) {
    const status = error instanceof ClientError ? error.status : 0;
    // If the session has expired with a 401, or has begun during the connection, the next round starts.
    const isInterrupted = interrupted.aborted || session.peek() !== before;
    if (status > 0 && !isInterrupted) pollUntil = Date.now() + polledFor;
    else if (!isInterrupted && Date.now() >= pollUntil) liveState.value = isOpen ? 'reconnecting' : 'offline';
  } finally {
    clearTimeout(watch);
    own.abort();
  }
  if (Date.now() - startedAt > longestPause) nextPause = shortestPause;
  if (interrupted.aborted) return;
  let left = isOpen ? nextPause : Math.max(second, nextPause);
  // A longer pause would show too late that the server is down.
  for (; isOpen && left > second && !interrupted.aborted; left -= second) {
    if (!(await isThere()) && !interrupted.aborted) liveState.value = 'offline';
    await pause(second, interrupted);
  }
  await pause(left, interrupted);
  if (isOpen) nextPause = Math.min(2 * nextPause, longestPause);
};

const openStream = async (topics: LiveTopic[], signal: AbortSignal): Promise<Response> => {
  const path = findRoute('streamEvents')?.path ?? '';
  const headers = { Accept: 'text/event-stream', 'Last-Event-ID': lastId };
  const request = { method: 'GET', path, query: { topics }, headers, tokens: sessionTokens, signal };
  return (await transmit({ ...request, isStream: true })).response;
};

const dispatch = ({ id, event, data }: ServerEvent): void => {
  // Without the id of the last event, events before the connection may have been missed.
  if (event === 'hello' && lastId === undefined) resync();
  lastId = id ?? lastId;
  const value = parseResponseJson('GET /api/events', data);
  // The server cannot tell which events on these topics were missed.
  if (event === 'resync') for (const topic of (value as { topics: LiveTopic[] }).topics) resync(topic);
  else publish(event, value);
};

const poll = async (interrupted: AbortSignal): Promise<void> => {
  if (await isThere()) {
    const wasAway = liveState.value !== 'polling' && liveState.value !== 'live';
    const isFallback = !isMounted('streamEvents') || Date.now() < pollUntil;
    confirm(isFallback ? 'polling' : 'live');
    if (isFallback || wasAway) resync();
  } else {
    liveState.value = 'offline';
  }
  await pause(liveState.value === 'offline' ? second : pollEvery, interrupted);
};

/** True if the server responds. */
const isThere = async (): Promise<boolean> => {
  const path = probes.map(findRoute).find((route) => route && !route.roles)?.path;
  try {
    const response = await fetch(toAddress(path ?? '/openapi.json'), {
      signal: AbortSignal.timeout(2 * second),
      cache: 'no-store',
    });
    await response.arrayBuffer();
    // A proxy responds with 502 or 504 if the server is down.
    return response.status !== 502 && response.status !== 504;
  } catch {
    return false;
  }
};

const confirm = (state: LiveState): void => {
  lastContact.value = Date.now();
  liveState.value = state;
};

const pause = (milliseconds: number, interrupted: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (interrupted.aborted) return resolve();
    const timer = setTimeout(resolve, milliseconds);
    interrupted.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
