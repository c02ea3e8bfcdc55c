import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { needs } from '../../auth/access.ts';
import { ErrorBody, HttpError, requireKnown, toHttpError } from '../../http/errors.ts';
import { toAddressGroup } from '../../http/fair-shares.ts';
import { sendJson } from '../../http/json.ts';
import type { Parts } from '../../kit/feature.ts';
import type { NotificationSource } from '../../kit/offers.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { defineList, defineShape, uuidForm } from '../../kit/shape.ts';
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

const TokenParams = Type.Object({
  ...PageParams.properties,
  token: Type.String({ description: 'Token of a link in an email, to confirm an address or to unsubscribe.' }),
});

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

/** Text on a page, with the form below it. */
type Content = { text: string; form?: 'address' | 'confirm' | 'leave' };

/**
 * Creates the routes for subscribing and unsubscribing. GET requests change nothing, because link previews also send
 * them.
 */
export const createSubscribeRoutes = (parts: SubscribeParts): Route[] => {
  const limit = new RequestLimit();
  return [
    defineRoute({
      method: 'GET',
      path: '/status/:page/subscribe',
      ...readable,
      summary: 'Show the form to subscribe to a status page by email',
      schema: { operationId: 'readSubscription', params: PageParams, response },
      handler: async (request, reply) => {
        const page = findPage(parts, request);
        assertMail(parts);
        return answer(request, reply, page, { text: toWords(page).intro, form: 'address' });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/status/:page/subscribe',
      ...readable,
      summary: 'Subscribe to a status page by email',
      readOther: (type, readText) =>
        type === 'application/x-www-form-urlencoded' ? Object.fromEntries(new URLSearchParams(readText())) : undefined,
      schema: {
        operationId: 'requestSubscription',
        params: PageParams,
        body: Type.Object({
          address: Type.String({ description: 'Email address to subscribe.', examples: ['anna@example.org'] }),
        }),
        response: { ...response, 429: ErrorBody },
      },
      handler: async (request, reply) => {
        const page = findPage(parts, request);
        return attempt(request, reply, page, async () => ask(parts, limit, page, request));
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/status/:page/subscribe/:token',
      ...readable,
      summary: 'Show the page of a link in an email, to confirm an address or to unsubscribe',
      schema: { operationId: 'readSubscriptionLink', params: TokenParams, response },
      handler: async (request, reply) => {
        const page = findPage(parts, request);
        const { token } = request.params;
        if (isLeaving(token)) return answer(request, reply, page, { text: '', form: 'leave' });
        const { intro, expired } = toWords(page);
        const read = readConfirmation(parts, page, token);
        const isValid = read && !parts.store.state.hasLeftSince(page.name, read.address, read.askedAt);
        return answer(request, reply, page, isValid ? { text: intro, form: 'confirm' } : { text: expired });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/status/:page/subscribe/:token',
      ...readable,
      summary: 'Confirm an address, or unsubscribe',
      schema: { operationId: 'useSubscriptionLink', params: TokenParams, response: { ...response, 410: ErrorBody } },
      handler: async (request, reply) => {
        const page = findPage(parts, request);
        return attempt(request, reply, page, () => useLink(parts, page, request.params.token));
      },
    }),
    ...createSubscriberRoutes(parts),
  ];
};

/** Sends the result of an action, or its refusal, to browsers as a page. */
const attempt = async (
  request: FastifyRequest,
  reply: FastifyReply,
  page: KnownPage,
  run: () => Promise<string>,
): Promise<void> => {
  try {
    answer(request, reply, page, { text: await run() });
  } catch (error) {
    const refusal = toHttpError(error);
    if (!refusal || !wantsPage(request)) throw error;
    answer(request, reply.code(refusal.status), page, { text: refusal.message });
  }
};

/** True for the id of a subscriber, as contained in links to unsubscribe. */
const isLeaving = (token: string): boolean => uuidForm.test(token);

const toWords = ({ values }: KnownPage) => wordsOf[values.language ?? 'en'].mail;

/** Uses a link from a mail. Resolves to the text for the reader. */
const useLink = async (parts: SubscribeParts, page: KnownPage, token: string): Promise<string> => {
  const { store, clock } = parts;
  const { name } = page;
  const words = toWords(page);
  const at = clock().getTime();
  if (isLeaving(token)) {
    const known = store.state.findSubscriber(token);
    if (known?.page === name) await store.note({ type: 'unsubscribed', subscriber: token, at });
    return words.left;
  }
  const read = readConfirmation(parts, page, token);
  const subscriber = read && { id: randomUUID(), page: name, address: read.address, at };
  if (subscriber && (await store.subscribe(subscriber, read.askedAt))) return words.confirmed;
  throw new HttpError('gone', words.expired);
};

/** Asks an address for confirmation. Returns the text for the reader. */
const ask = (parts: SubscribeParts, limit: RequestLimit, page: KnownPage, request: FastifyRequest): string => {
  const { address } = request.body as { address: string };
  assertMail(parts);
  if (!isMailAddress(address)) {
    throw new HttpError('invalid', 'address must be an email address such as anna@example.org');
  }
  const counted = limit.count(toAddressGroup(request.ip), address);
  if (counted === 'full') {
    throw new HttpError('too-many', 'Too many requests: try again in 10 minutes', {
      headers: { 'retry-after': '600' },
    });
  }
  // The response does not wait for the mail, and does not reveal who is subscribed.
  if (counted === 'ok') void sendConfirmation(parts, page, address);
  return toWords(page).sent;
};

const sendConfirmation = async (
  { mailer, confirmations, toUrl, log }: SubscribeParts,
  { name, values }: KnownPage,
  address: string,
): Promise<void> => {
  const { mail } = wordsOf[values.language ?? 'en'];
  const url = `${toUrl(name)}/subscribe/${confirmations.create({ page: name, address })}`;
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

/**
 * Finds a page. Unsubscribing needs no login, because mail servers unsubscribe on behalf of readers. Subscribers can
 * also leave a page that is no longer in the config file.
 */
const findPage = ({ keeper, store, authorize }: SubscribeParts, request: FastifyRequest): KnownPage => {
  const { page, token = '' } = request.params as { page: string; token?: string };
  const known = isLeaving(token) ? keeper.find(page) : undefined;
  if (known) return known;
  if (isLeaving(token) && store.state.findSubscriber(token)?.page === page) {
    return { name: page, values: { title: page, groups: [] }, setting: undefined };
  }
  return requirePage(keeper, page, request, authorize);
};

/** Reads the token of a confirmation link of the page. Undefined if the token is invalid. */
const readConfirmation = ({ confirmations }: SubscribeParts, { name }: KnownPage, token: string) => {
  const read = confirmations.read(token);
  return read?.page === name ? read : undefined;
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
  // Without `same-origin`, browsers would send the form with the origin `null`, and the server would refuse it.
  reply.headers({ 'content-security-policy': style.policy, 'referrer-policy': 'same-origin' });
  const up = (request.params as { token?: string }).token === undefined ? '' : '../';
  const html = writeSubscribePage(page, style, { text, form, hasLogo: page.values.logo !== undefined, up });
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

/** Creates the routes that let Admins list and remove subscribers. */
const createSubscriberRoutes = ({ store, keeper, clock }: SubscribeParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/status-pages/:page/subscribers',
    ...needs('settings:write'),
    summary: 'List the subscribers of a status page',
    schema: { operationId: 'listSubscribers', params: PageParams, response: { 200: SubscriberList, 404: ErrorBody } },
    handler: async ({ params: { page } }, reply) => {
      const data = store.state.listSubscribers().filter((one) => one.page === page);
      // A page that is no longer in the config file may have subscribers.
      if (data.length === 0) keeper.require(page);
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
