import { type DestinationType, jsonType, toBody, toPathWith } from './type.ts';

const maxBytes = 16 * 1024;

/** Priorities. Gotify clients make a sound from 4 upwards and interrupt the user from 8 upwards. */
const gotifyPriorities = { critical: 10, error: 8, warning: 5, info: 2, resolved: 2 };

/** Gotify. `url` is the address of the server, and the secret is an application token. */
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
