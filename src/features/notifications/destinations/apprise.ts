import { breakMentions, type DestinationType, jsonType, toBearer, toBody, toPath } from './type.ts';

/** Maximum size of the text in bytes. No service behind Apprise shows more. */
const maxBytes = 32 * 1024;

const kinds = { critical: 'failure', error: 'failure', warning: 'warning', info: 'info', resolved: 'success' };

/** Apprise API: `url` ends in `/notify/KEY`. */
export const appriseDestination: DestinationType = {
  name: 'apprise',
  // Apprise responds only after all its services have responded.
  timeoutSeconds: 60,
  secret: 'optional',
  secretHeader: 'authorization',
  toRequest: (outgoing, { url, secrets }) => {
    const { message, title, urgency, link } = outgoing;
    // Apprise has no field for links. Alerts stay in the format of version 1.0.
    const end = message && link !== undefined ? `\n\nOpen: ${link}` : '';
    return {
      path: toPath(url),
      headers: { ...jsonType, ...toBearer(secrets) },
      body: JSON.stringify({
        title: breakMentions(title),
        body: `${breakMentions(toBody(outgoing, maxBytes))}${end}`,
        type: kinds[urgency],
        format: 'text',
      }),
    };
  },
};
