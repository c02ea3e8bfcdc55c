import { type DestinationType, jsonType, toBody, toPathWith } from './type.ts';

const maxBytes = 16 * 1024;

/** Priorities: clients of Gotify make a sound from 4 on and interrupt from 8 on. */
const gotifyPriorities = { critical: 10, error: 8, warning: 5, info: 2, resolved: 2 };

/** Gotify; `url` is the server, the secret is the token of an application. */
export const gotifyDestination: DestinationType = {
  name: 'gotify',
  secret: 'required',
  secretHeader: 'x-gotify-key',
  toRequest: (outgoing, { url, secrets: [token = ''] }) => ({
    path: toPathWith(url, '/message'),
    headers: { ...jsonType, 'x-gotify-key': token },
    body: JSON.stringify({
      title: outgoing.title,
      message: toBody(outgoing, maxBytes),
      priority: gotifyPriorities[outgoing.urgency],
      ...(outgoing.link !== undefined && { extras: { 'client::notification': { click: { url: outgoing.link } } } }),
    }),
  }),
};
