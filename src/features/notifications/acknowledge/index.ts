import { randomBytes } from 'node:crypto';
import type { Parts } from '../../../kit/feature.ts';
import type { IncidentSource } from '../../../kit/incident-source.ts';
import type { Route } from '../../../kit/route.ts';
import { createAcknowledgeLinks, type LinkedDestination } from './links.ts';
import { createAcknowledgeRoutes } from './routes.ts';

const keyBytes = 32;

interface LinkParts extends Pick<Parts, 'deriveKeys' | 'storage' | 'base' | 'clock' | 'log'> {
  incidents: IncidentSource | undefined;
  publicUrl: string | undefined;
  /** The current destination of a name. */
  findDestination(name: string): LinkedDestination | undefined;
}

interface LinkAcknowledgement {
  routes: Route[];
  /** Where the receiver of a destination can acknowledge the incidents; undefined if there is no such address. */
  toUrl(destination: LinkedDestination, ids: readonly string[]): string | undefined;
}

/** Acknowledging from notifications, by links that need no token. */
export const openAcknowledgement = async (parts: LinkParts): Promise<LinkAcknowledgement> => {
  const { deriveKeys, base = '/', clock, incidents, publicUrl, findDestination } = parts;
  const [first = await readKey(parts), ...previous] = deriveKeys('acknowledge');
  const links = createAcknowledgeLinks([first, ...previous], clock, findDestination);
  return {
    routes: createAcknowledgeRoutes({ links, incidents, publicUrl }),
    toUrl: (destination, ids) => {
      const token = publicUrl === undefined ? undefined : links.createToken(destination, ids);
      if (publicUrl === undefined || token === undefined) return undefined;
      return `${publicUrl.replace(/\/+$/, '')}${base.replace(/\/+$/, '')}/api/acknowledge/${token}`;
    },
  };
};

/** Where no `jwtSecret` is set: a key that is made with the first start, so that links outlast the process. */
const readKey = async ({ storage, publicUrl, log }: LinkParts): Promise<Buffer> => {
  const fresh = randomBytes(keyBytes);
  if (publicUrl === undefined) return fresh;
  const file = storage.file('acknowledge.key');
  const kept = await file.read();
  if (kept?.length === keyBytes) return kept;
  await file.write(fresh).catch((err: unknown) => {
    log.warn({ err }, 'the key of links that acknowledge cannot be kept: links end when the server stops');
  });
  return fresh;
};
