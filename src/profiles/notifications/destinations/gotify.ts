import { type DestinationType, jsonType, toBody, toPathWith, toTitle, toUrgency } from './type.ts';

const maxBytes = 16 * 1024;

/** Gotify's clients make a sound from 4 and interrupt from 8. */
const priorities = { critical: 10, error: 8, warning: 5, info: 2, resolved: 2 };

/** Gotify: `url` is the server's, and the secret the token of an application. */
export const gotifyDestination: DestinationType = {
  name: 'gotify',
  secret: 'required',
  secretHeader: 'x-gotify-key',
  toRequest: (alert, { url, secrets: [token = ''] }) => ({
    path: toPathWith(url, '/message'),
    headers: { ...jsonType, 'x-gotify-key': token },
    body: JSON.stringify({
      title: toTitle(alert),
      message: toBody(alert, maxBytes),
      priority: priorities[toUrgency(alert)],
      ...(alert.link !== undefined && { extras: { 'client::notification': { click: { url: alert.link } } } }),
    }),
  }),
};
