import { isUtf8 } from 'node:buffer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { openFor } from '../../../auth/access.ts';
import type { IdentifySender } from '../../../auth/guard.ts';
import { ErrorBody, HttpError } from '../../../http/errors.ts';
import { sendJson, whenReady } from '../../../http/json.ts';
import { idempotencyHeader } from '../../../http/text-forms.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import type { AlertStore } from '../log/alert-store.ts';
import { AlertBody, AlertReceipt } from '../schema.ts';
import { readForm } from './form.ts';
import { formType, plainTextName } from './format.ts';
import type { AppendOnce } from './forwarded-ids.ts';
import type { AlertMeters } from './meters.ts';
import { storeNative } from './store-native.ts';

export interface IntakeParts {
  store: AlertStore;
  appendOnce: AppendOnce;
  counts: AlertMeters;
  clock: () => Date;
  identifySender: IdentifySender;
  /** Secrets by format. Senders that use these formats must sign. */
  secrets: Readonly<Record<string, string | undefined>>;
}

/** Creates the contract's route for a single alert. */
export const createNativeRoute = (parts: IntakeParts): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/alert',
    ...openFor('alerts:write'),
    isSpecified: true,
    summary: 'Store an alert; the server responds once the alert is on disk',
    compressedBody: true,
    readOther: readForm,
    headers: { request: idempotencyHeader },
    schema: {
      operationId: 'createAlert',
      consumes: ['application/json', formType],
      body: AlertBody,
      response: { 200: AlertReceipt, 415: ErrorBody, 422: ErrorBody },
    },
    errorHandler: parts.counts.createErrorHandler('native'),
    handler: (request, reply) => sendStored(parts, request, reply, request.body),
  });

const { message: _message, labels: _labels, ...textFields } = AlertBody.properties;

/** Query with the fields of an alert. The message of the alert is the request body. */
const TextQuery = Type.Object(textFields);

/** Creates the route for programs that can send only text. The body is the message. */
export const createTextRoute = (parts: IntakeParts): Route =>
  defineRoute({
    method: 'POST',
    path: `/api/alert/${plainTextName}`,
    ...openFor('alerts:write'),
    summary: 'Store plain text as an alert; the server responds once the alert is on disk',
    body: 'bytes',
    compressedBody: true,
    headers: { request: idempotencyHeader },
    schema: {
      operationId: 'createAlertFromText',
      querystring: TextQuery,
      consumes: ['text/plain'],
      body: Type.String({ examples: ['Disk 3 of nas-1 has failed'] }),
      response: { 200: AlertReceipt, 415: ErrorBody, 422: ErrorBody },
    },
    errorHandler: parts.counts.createErrorHandler('native'),
    // Every query field is text.
    validatorCompiler: () => () => true,
    handler: (request, reply) => {
      const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      if (!isUtf8(bytes)) throw new HttpError('invalid', 'Request body must be text in UTF-8');
      const message = bytes.toString('utf8').trim();
      if (message === '') throw new HttpError('invalid', 'Request body must contain the text of the alert');
      return sendStored(parts, request, reply, { ...request.query, message });
    },
  });

const sendStored = (
  { clock, identifySender, ...parts }: IntakeParts,
  request: FastifyRequest,
  reply: FastifyReply,
  body: AlertBody,
) => {
  const receipt = { now: clock(), sender: identifySender(request) };
  const stored = storeNative(parts, body, receipt, request.headers);
  return whenReady(reply, stored, ({ id }) => sendJson(reply, { received: true, id }));
};
