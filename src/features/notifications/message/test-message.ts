import type { Reach } from '../../../kit/reach.ts';
import { shorten } from '../../../lib/well-formed.ts';
import type { DestinationDefinition } from '../destinations/definition.ts';
import { openTransport } from '../destinations/transport.ts';
import { createTextAlert } from './text-alert.ts';

/** Maximum number of response characters shown. Enough for a reason, but not enough to read web pages. */
const mostShown = 500;

interface TestOutcome {
  isDelivered: boolean;
  /** Response of the receiver, or the reason why there is no response. */
  response: string;
}

/** Sends a single alert without storing it. */
export const sendTest = async (
  definition: DestinationDefinition,
  clock: () => Date,
  reach?: Reach,
  text = 'This is a test alert.',
): Promise<TestOutcome> => {
  const transport = await openTransport(definition, 1, clock, reach);
  const { outcome, reply } = await transport.send(createTextAlert(clock(), text));
  await transport.close();
  return { isDelivered: outcome.kind === 'delivered', response: toShown(hideSecrets(reply, definition)) };
};

const toShown = (text: string): string => {
  const [status = ''] = /^\d{3}\n/.exec(text) ?? [];
  return `${status}${shorten(text.slice(status.length), mostShown)}`;
};

/** Returns the response without control characters, and without secrets that the receiver may have echoed. */
const hideSecrets = (text: string, { receiver: { url, secrets, headers } }: DestinationDefinition): string =>
  [...secrets, ...Object.values(headers).flatMap(toSecrets), ...toUrlSecrets(url)]
    .flatMap(toForms)
    .filter((secret) => secret.length > 1)
    .sort((one, other) => other.length - one.length)
    .reduce((shown, secret) => shown.replaceAll(secret, '***'), text)
    .replaceAll(/[^\P{Cc}\n\t]/gu, '');

/** Returns the parts of a header value that may appear in a response on their own. */
const toSecrets = (value: string): string[] => {
  const [, scheme = '', credential = value] = /^(Bearer|Basic) (.*)$/i.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credential];
  const pair = Buffer.from(credential, 'base64').toString();
  return [credential, pair, pair.slice(pair.indexOf(':') + 1)];
};

/** Minimum length for a part of a URL to count as secret. Shorter parts may occur in a response by chance. */
const shortestPart = 8;

/** Returns the path and query of a URL, and the parts of them that a response may echo. */
const toUrlSecrets = ({ pathname, search, searchParams }: URL): string[] => {
  const parts = [...pathname.split('/'), ...searchParams.values()].filter((part) => part.length >= shortestPart);
  return [`${pathname}${search}`, pathname, search, ...parts];
};

/** Returns a secret as plain text, JSON-escaped, and URL-encoded. */
const toForms = (secret: string): string[] => {
  // URLs cannot contain lone surrogates.
  const encoded = encodeURIComponent(secret.replaceAll(/\p{Cs}/gu, '\ufffd'));
  return [secret, JSON.stringify(secret).slice(1, -1), encoded, encoded.replaceAll('%20', '+')];
};
