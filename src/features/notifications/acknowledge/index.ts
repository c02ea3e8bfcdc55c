import { randomBytes } from 'node:crypto';
import type { Parts } from '../../../kit/feature.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { Route } from '../../../kit/route.ts';
import { readStoredSecret } from '../../../kit/stored-secret.ts';
import { createAcknowledgeLinks, type LinkedDestination } from './links.ts';
import { createAcknowledgeRoutes } from './routes.ts';

interface LinkParts extends Pick<Parts, 'deriveSecrets' | 'storage' | 'base' | 'clock' | 'log'> {
  incidents: IncidentSource;
  publicUrl: string | undefined;
  /** Finds the current destination with a name. */
  findDestination(name: string): LinkedDestination | undefined;
}

interface LinkAcknowledgement {
  /** Signing keys. The first is the current key. */
  keys: readonly [Buffer, ...Buffer[]];
  routes: Route[];
  /**
   * Returns the URL that lets the receiver of a destination acknowledge the incidents. Undefined if no links are
   * served.
   */
  toUrl(destination: LinkedDestination, ids: readonly string[]): string | undefined;
}

/** Sets up the links that let receivers acknowledge incidents without a login. */
export const openAcknowledgement = async (parts: LinkParts): Promise<LinkAcknowledgement> => {
  const { deriveSecrets, base, clock, incidents, publicUrl, findDestination } = parts;
  const [first = await readKey(parts), ...previous] = deriveSecrets('acknowledge');
  const links = createAcknowledgeLinks([first, ...previous], clock, findDestination);
  return {
    keys: [first, ...previous],
    routes: createAcknowledgeRoutes({ links, incidents, publicUrl }),
    toUrl: (destination, ids) => {
      if (publicUrl === undefined || base === undefined) return undefined;
      const token = links.createToken(destination, ids);
      if (token === undefined) return undefined;
      return `${publicUrl.replace(/\/+$/, '')}${base.replace(/\/+$/, '')}/api/acknowledge/${token}`;
    },
  };
};

/** Returns the key for a server without `jwtSecret`. */
const readKey = async ({ storage, publicUrl, log }: LinkParts): Promise<Buffer> => {
  // Without a public address, no links are served, and no file is needed.
  if (publicUrl === undefined) return randomBytes(32);
  return readStoredSecret(storage.file('acknowledge.key'), (err) =>
    log.warn(
      { err },
      'the key for acknowledgement links cannot be stored: links in notifications become invalid when the server stops',
    ),
  );
};
