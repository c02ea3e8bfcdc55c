import { type IncomingMessage, request } from 'node:http';
import { findSocket } from '../../../host/sockets.ts';
import { isObject, parseJson } from '../../../lib/parse-json.ts';
import { defineWatchType, type Finding } from '../watch-type.ts';
import { readBodyText } from './body-text.ts';
import { toSeenText } from './phases.ts';

/** Sockets of Docker and Podman. */
const enginePaths = ['/var/run/docker.sock', '/run/podman/podman.sock'];

/** Checks that a container in Docker or Podman is running and not unhealthy. */
export const containerWatch = defineWatchType({
  name: 'container',
  scope: () => 'machine',
  keys: ['container', 'socket'],
  required: ['container'],
  limit: 'none',
  defaultLevel: 'ERROR',
  every: 60,
  findProblem: ({ container = '', socket = '/' }) => {
    if (!/^[A-Za-z0-9][\w.-]*$/.test(container)) return 'container must be the name or id of a container';
    return socket.startsWith('/') ? undefined : 'socket must be an absolute path';
  },
  check: async ({ container: thing = '', socket }, _readings, signal) => {
    const path = socket ?? (await findSocket(enginePaths));
    if (path === undefined) throw new Error(`there is no socket of Docker or Podman (${enginePaths.join(', ')})`);
    const { status, body } = await ask(path, `/containers/${thing}/json`, signal);
    const parsed = parseJson(body);
    if (status === 404) return [{ thing, isBad: true, words: `there is no container ${thing}` }];
    const state = isObject(parsed) ? parsed['State'] : undefined;
    if (status !== 200 || !isObject(state)) throw new Error(`${path} responded ${status}: ${toSeenText(body)}`);
    return [toFinding(thing, state)];
  },
});

/** Sends a request to the engine. Rejects with an Error whose message is the reason. */
const ask = async (
  socketPath: string,
  path: string,
  signal: AbortSignal,
): Promise<{ status: number; body: string }> => {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { host: 'localhost', connection: 'close' };
      request({ socketPath, path, signal, headers, agent: false }, resolve).on('error', reject).end();
    });
    return { status: response.statusCode ?? 0, body: await readBodyText(response, response.headers) };
  } catch (error) {
    if (signal.aborted) throw new Error(`${socketPath} does not respond in time`);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(`${socketPath} cannot be reached (${code ?? message})`);
  }
};

const toFinding = (thing: string, state: Record<string, unknown>): Finding => {
  const { Status: status, ExitCode: exitCode, OOMKilled: isOutOfMemory, Health: health } = state;
  const { Status: healthStatus, Log: log } = isObject(health) ? health : {};
  if (status !== 'running') {
    const code = status === 'exited' ? ` with code ${Number(exitCode)}` : '';
    const reason = isOutOfMemory === true ? ': out of memory' : '';
    return { thing, isBad: true, words: `${thing} is ${toSeenText(String(status))}${code}${reason}` };
  }
  const isBad = healthStatus === 'unhealthy';
  const last: unknown = Array.isArray(log) ? log.at(-1) : undefined;
  const output = isBad && isObject(last) ? toSeenText(String(last['Output'] ?? '')) : '';
  const words = ['healthy', 'unhealthy', 'starting'].find((each) => each === healthStatus);
  return {
    thing,
    isBad,
    words: `${thing} is running${words === undefined ? '' : `, and ${words}`}`,
    ...(output && { seen: { timings: null, failed: null, text: output } }),
  };
};
