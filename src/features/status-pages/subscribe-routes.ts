import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError, requireKnown, toHttpError } from '../../http/errors.ts';
import { sendJson } from '../../http/json.ts';
import type { Parts } from '../../kit/feature.ts';
import type { NotificationSource } from '../../kit/offers.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineList, defineShape } from '../../kit/shape.ts';
import { Time, toTimeText } from '../../kit/time.ts';

import { type Confirmations, RequestLimit } from './confirmations.ts';
import type { Subscriber } from './fold.ts';
import { writeSubscribePage } from './html.ts';
import { type KnownPage, PageParams, pageKind } from './kind.ts';
import { isMailAddress } from './mail-address.ts';
import { type PublicParts, readable, requirePage } from './public-routes.ts';
import type { PageStore } from './store.ts';
import { createPageStyle } from './style.ts';
import { wordsOf } from './words.ts';

export interface SubscribeParts extends PublicParts, Pick<Parts, 'clock' | 'log'> {
  store: PageStore;
  mailer: NotificationSource['mailer'];
  confirmations: Confirmations;
  /** Returns the URL of a page. */
  toUrl(page: string): string;
}

const Query = Type.Object({
  confirm: Type.Optional(Type.String({ maxLength: 2000, description: 'Token of a confirmation link.' })),
  leave: Type.Optional(Type.String({ maxLength: 100, description: 'Id in a link to unsubscribe.' })),
});
type Query = Static<typeof Query>;

const Result = defineShape('SubscriptionResult', { message: Type.String({ examples: ['You are subscribed.'] }) });

const response = {
  200: {
    content: {
      'application/json': { schema: Result },
      'text/html': { schema: Type.String({ examples: ['<!doctype html>'] }) },
    },
  },
  401: ErrorBody,
  404: ErrorBody,
  409: ErrorBody,
};

/** Text of a page, and the form below it. */
type Content = { text: string; form?: 'address' | 'confirm' | 'leave' };

/**
 * Creates the routes for subscribing and unsubscribing. GET requests change nothing, because previews of links also
 * send them.
 */
export const createSubscribeRoutes = (parts: SubscribeParts): Route[] => {
  const limit = new RequestLimit();
  return [
    defineRoute({
      method: 'GET',
      path: '/status/:page/subscribe',
      ...readable,
      summary: 'Show the form to subscribe to a status page by email, to confirm, or to unsubscribe',
      schema: { operationId: 'readSubscription', params: PageParams, querystring: Query, response },
      handler: async (request, reply) => {
        const page = findPage(parts, request);
        const { mail } = wordsOf[page.values.language ?? 'en'];
        const { confirm, leave } = request.query;
        if (leave !== undefined) return answer(request, reply, page, { text: '', form: 'leave' });
        if (confirm === undefined) assertMail(parts);
        else if (!readConfirmation(parts, page, confirm)) return answer(request, reply, page, { text: mail.expired });
        return answer(request, reply, page, {
          text: mail.intro,
          form: confirm === undefined ? 'address' : 'confirm',
        });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/status/:page/subscribe',
      ...readable,
      summary: 'Subscribe to a status page by email, confirm the address, or unsubscribe',
      readOther: (type, readText) =>
        type === 'application/x-www-form-urlencoded'
          ? Object.fromEntries(new URLSearchParams(readText()))
          : type?.startsWith('multipart/')
            ? {}
            : undefined,
      schema: {
        operationId: 'changeSubscription',
        params: PageParams,
        querystring: Query,
        body: Type.Object({
          address: Type.Optional(
            Type.String({ description: 'Email address to subscribe.', examples: ['anna@example.org'] }),
          ),
        }),
        response: { ...response, 429: ErrorBody },
      },
      preValidation: async (request) => {
        request.body ??= {};
      },
      handler: async (request, reply) => {
        const page = findPage(parts, request);
        try {
          return answer(request, reply, page, { text: await change(parts, limit, page, request) });
        } catch (error) {
          const refusal = toHttpError(error);
          if (!refusal || !wantsPage(request)) throw error;
          return answer(request, reply.code(refusal.status), page, { text: refusal.message, form: 'address' });
        }
      },
    }),
    ...createSubscriberRoutes(parts),
  ];
};

/** Applies a request. Resolves to the message for the reader. */
const change = async (
  parts: SubscribeParts,
  limit: RequestLimit,
  page: KnownPage,
  request: FastifyRequest,
): Promise<string> => {
  const { store, clock } = parts;
  const { name, values } = page;
  const { mail } = wordsOf[values.language ?? 'en'];
  const { confirm, leave } = request.query as Query;
  const at = clock().getTime();
  if (leave !== undefined) {
    const known = store.state.findSubscriber(leave);
    if (known?.page === name) await store.note({ type: 'unsubscribed', subscriber: leave, at });
    return mail.left;
  }
  if (confirm !== undefined) {
    const address = readConfirmation(parts, page, confirm);
    if (address === undefined) throw new HttpError('gone', mail.expired);
    await store.subscribe({ id: randomUUID(), page: name, address, at });
    return mail.confirmed;
  }
  const { address = '' } = request.body as { address?: string };
  assertMail(parts);
  if (!isMailAddress(address))
    throw new HttpError('invalid', 'address must be an email address such as anna@example.org');
  const counted = limit.count(request.ip, address);
  if (counted === 'full') {
    throw new HttpError('too-many', 'Too many requests: try again in 10 minutes', {
      headers: { 'retry-after': '600' },
    });
  }
  // The response neither waits for the mail nor reveals who is subscribed.
  if (counted === 'ok') void sendConfirmation(parts, page, address);
  return mail.sent;
};

const sendConfirmation = async (
  { mailer, confirmations, toUrl, log }: SubscribeParts,
  { name, values }: KnownPage,
  address: string,
): Promise<void> => {
  const { mail } = wordsOf[values.language ?? 'en'];
  const url = `${toUrl(name)}/subscribe?confirm=${confirmations.create({ page: name, address })}`;
  const outcome = await mailer
    .send({
      id: `subscribe.${randomUUID()}`,
      to: address,
      subject: `[${values.title}] ${mail.confirm}`,
      text: `${mail.request(values.title)}\n\n${url}\n`,
      headers: {},
    })
    .catch(() => 'failed');
  if (outcome !== 'delivered')
    log.warn({ page: name, outcome }, 'status pages: a confirmation email could not be sent');
};

/** Finds a page. Unsubscribing needs no login, because mail servers unsubscribe on behalf of readers. */
const findPage = ({ keeper, authorize }: SubscribeParts, request: FastifyRequest): KnownPage => {
  const { page } = request.params as { page: string };
  const known = (request.query as Query).leave === undefined ? undefined : keeper.find(page);
  return known ?? requirePage(keeper, page, request, authorize);
};

/** Returns the address that a token confirms for the page. */
const readConfirmation = (
  { confirmations }: SubscribeParts,
  { name }: KnownPage,
  token: string,
): string | undefined => {
  const read = confirmations.read(token);
  return read?.page === name ? read.address : undefined;
};

const assertMail = ({ hasMail }: SubscribeParts): void => {
  if (hasMail()) return;
  throw new HttpError('wrong-state', 'This page offers no email subscriptions');
};

const wantsPage = ({ headers: { accept = '' } }: FastifyRequest): boolean => /\btext\/html\b/i.test(accept);

const answer = (request: FastifyRequest, reply: FastifyReply, page: KnownPage, { text, form }: Content): void => {
  reply.header('x-signalbox-instance', '');
  if (!wantsPage(request)) {
    sendJson(reply, { message: text });
    return;
  }
  const style = createPageStyle(page.values.colours);
  // Without `same-origin`, browsers would send the form with the origin `null`, which is refused.
  reply.headers({ 'content-security-policy': style.policy, 'referrer-policy': 'same-origin' });
  const html = writeSubscribePage(page, style, { text, form, hasLogo: page.values.logo !== undefined });
  reply.type('text/html; charset=utf-8').send(html);
};

const ShownSubscriber = defineShape('StatusPageSubscriber', {
  id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-4b5e-a1f0-3d0a7d6e2c55'] }),
  address: Type.String({ examples: ['anna@example.org'] }),
  confirmedAt: Type.String({ ...Time, description: 'Time of the confirmation.' }),
});

const SubscriberList = defineList('StatusPageSubscriberList', 'Subscribers', ShownSubscriber, 'Oldest first.');

const toShown = ({ id, address, at }: Subscriber): Static<typeof ShownSubscriber> => ({
  id,
  address,
  confirmedAt: toTimeText(at),
});

/** Creates the routes with which an Admin lists and removes subscribers. */
const createSubscriberRoutes = ({ store, keeper, clock }: SubscribeParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/status-pages/:page/subscribers',
    ...needs('settings:write'),
    summary: 'List the subscribers of a status page',
    schema: { operationId: 'listSubscribers', params: PageParams, response: { 200: SubscriberList, 404: ErrorBody } },
    handler: async ({ params: { page } }, reply) => {
      keeper.require(page);
      const data = store.state.listSubscribers().filter((one) => one.page === page);
      return sendJson(reply, { count: data.length, data: data.map(toShown) });
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/status-pages/:page/subscribers/:id',
    ...needs('settings:write'),
    summary: 'Remove a subscriber of a status page',
    schema: {
      operationId: 'removeSubscriber',
      params: Type.Object({ ...PageParams.properties, id: Type.String({ description: 'Id of a subscriber.' }) }),
      response: { 200: ShownSubscriber, 404: ErrorBody },
    },
    handler: async ({ params: { page, id } }, reply) => {
      const found = store.state.findSubscriber(id);
      const path = `${pageKind.path}/${page}/subscribers`;
      const known = requireKnown(found?.page === page ? found : undefined, 'Subscriber', id, path);
      await store.note({ type: 'unsubscribed', subscriber: id, at: clock().getTime() });
      return sendJson(reply, toShown(known));
    },
  }),
];
