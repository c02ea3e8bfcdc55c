import { type DestinationType, jsonType, toBearer, toBody, toPath, toTitle, toUrgency } from './type.ts';

/** More than the services behind Apprise show. */
const maxBytes = 32 * 1024;

const kinds = { critical: 'failure', error: 'failure', warning: 'warning', info: 'info', resolved: 'success' };

/** Apprise API: `url` ends in `/notify/KEY`. */
export const appriseDestination: DestinationType = {
  name: 'apprise',
  secret: 'optional',
  secretHeader: 'authorization',
  toRequest: (alert, { url, secrets }) => ({
    path: toPath(url),
    headers: { ...jsonType, ...toBearer(secrets) },
    body: JSON.stringify({
      title: toTitle(alert),
      body: toBody(alert, maxBytes),
      type: kinds[toUrgency(alert)],
      format: 'text',
    }),
  }),
};
