import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type RequestListener, wrapRequests } from '../connection/wrap-requests.ts';
import type { Headers } from '../response/common-headers.ts';
import { HttpError } from '../response/errors.ts';
import { createAnswerWriter, type TextAnswer } from './answer.ts';
import { createReplays, isShort, readBody } from './body.ts';
import { gather } from './gather.ts';
import { createRefusal } from './refusal.ts';
import { createDirectTable } from './table.ts';

interface Direct {
  /** Headers of every answer. */
  headers: Headers;
  /** Whether the request may go to any route. */
  isWelcome: (request: IncomingMessage) => boolean;
  /** Whether the connection is one more than there may be. */
  isExtra: (socket: Socket) => boolean;
  /** Whether the program is too far behind with its work. */
  isLagging: () => boolean;
  /** A body as an object, or what is wrong with it. */
  parseBody: (body: Buffer) => object | HttpError;
}

/**
 * Answers what needs no more than its text, as all direct routes do, before Fastify makes its own request and reply:
 * so reading a task costs 1.0x of what Node alone takes for the same bytes, not 1.4x. Whatever is not plainly right
 * goes to Fastify, which answers it as if nothing had been here. Call it before routes are added.
 */
export const answerDirectly = (
  app: FastifyInstance,
  { isWelcome, isExtra, isLagging, parseBody, ...options }: Direct,
): void => {
  const find = createDirectTable(app);
  const replays = createReplays(app);
  const pairs = { ...options.headers, 'Content-Type': 'application/json; charset=utf-8' };
  const headers = Object.entries(pairs).flatMap(([name, value]) => [name.toLowerCase(), value]);
  const write = gather(createAnswerWriter(headers));
  const refuse = createRefusal({ write, isWelcome, isLagging });
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  const deliver = (response: ServerResponse, answer: TextAnswer | Promise<TextAnswer>): void => {
    if (answer instanceof Promise) void answer.then((made) => write(response, made));
    else write(response, answer);
  };
  const tryAnswer = (
    request: IncomingMessage,
    response: ServerResponse,
    handle: RequestListener,
  ): boolean => {
    const match = find(request.method ?? '', request.url ?? '');
    if (!match || !isWelcome(request)) return false;
    const { route, segment, query } = match;
    if (!route.readsBody) {
      const answer = route.answer(segment, query);
      if (answer) deliver(response, answer);
      return answer !== undefined;
    }
    if (!isShort(request)) return false;
    readBody(request, (bytes) => {
      // Bodies that were let in together arrive together.
      if (refuse(request, response)) return;
      const body = bytes.length === 0 ? undefined : parseBody(bytes);
      const answer = body instanceof HttpError || !body ? undefined : route.answer(segment, query, body);
      if (answer) return deliver(response, answer);
      replays.set(request, bytes);
      handle(request, response);
    });
    return true;
  };
  wrapRequests(app.server, (handle) => (request, response) => {
    if (isClosing || isExtra(request.socket)) return handle(request, response);
    if (!refuse(request, response) && !tryAnswer(request, response, handle)) handle(request, response);
  });
};
