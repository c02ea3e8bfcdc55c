import Type, { type Static } from 'typebox';
import { otherVariables } from '../config/names.ts';
import { isLoopback } from '../lib/loopback.ts';
import { readSmallFileSync } from '../lib/small-file.ts';

const path = { minLength: 1, pattern: '^[^\\u0000]*$' };

const HubSetting = Type.Object(
  {
    url: Type.String({ minLength: 1, description: 'URL of the hub: https, or http for a hub on this machine.' }),
    keyFile: Type.Optional(
      Type.String({
        ...path,
        description: 'File with the key; by default the variable `SIGNALBOX_HUB_KEY` contains the key.',
      }),
    ),
    ca: Type.Optional(
      Type.String({
        ...path,
        description: "PEM file with the certificate authority that signed the hub's certificate.",
      }),
    ),
  },
  { additionalProperties: false },
);

/** Hub that this server reports to. */
export type HubSetting = Static<typeof HubSetting>;

/** Settings for features that report to another signalbox. */
export const hubSettings = {
  hub: Type.Optional(
    Type.Object(HubSetting.properties, {
      additionalProperties: false,
      description: 'Another signalbox server, to which this server sends its readings and all its alerts.',
    }),
  ),
};

/** Environment variable that contains the key, as an alternative to `keyFile`. */
export const hubKeyVariable = otherVariables.hubKey;

/** Name of the destination that forwards alerts to the hub. */
export const hubDestination = 'hub';

/** Parses the address of a hub. The result ends with `/`. Throws an Error whose message is a clause. */
export const parseHubUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`must be a URL such as https://desk.example, not ${JSON.stringify(text)}`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new Error('must be a URL without user name, password, query or fragment');
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error(`must begin with https: keys must not be sent to ${url.host} in plain text`);
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  return url;
};

/** Returns problems with the setting, as clauses. */
export const findHubProblems = ({ hub }: { hub?: HubSetting | undefined }): string[] => {
  if (!hub) return [];
  const problems: string[] = [];
  try {
    parseHubUrl(hub.url);
  } catch (error) {
    problems.push(`hub.url ${(error as Error).message}`);
  }
  if (hub.keyFile === undefined && !process.env[hubKeyVariable]) {
    problems.push(`hub needs keyFile, or the variable ${hubKeyVariable}`);
  }
  return problems;
};

/**
 * Reads the key for the hub. Throws an Error if it cannot be read. The message is a clause that does not reveal the
 * key.
 */
export const readHubKey = ({ keyFile }: Pick<HubSetting, 'keyFile'>): string => {
  const key =
    (keyFile === undefined ? process.env[hubKeyVariable] : readSmallFileSync(keyFile).toString())?.trim() ?? '';
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new Error(`${keyFile === undefined ? hubKeyVariable : `keyFile ${keyFile}`} must contain a key`);
};
