import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import { createSerial } from '../../../../storage/journal/scheduling.ts';

const inTurn = createSerial();

/** Lookups that run or wait, by host name. */
const pending = new Map<string, Promise<LookupAddress[]>>();

/**
 * Looks up host names one at a time, since each takes a thread that the log needs too: a name server that does not answer
 * keeps one busy, not all.
 */
export const lookupInTurn: LookupFunction = (hostname, { all = false, family = 0 }, callback) => {
  const addresses = pending.get(hostname) ?? inTurn(() => lookup(hostname, { all: true, family }));
  pending.set(hostname, addresses);
  addresses
    .finally(() => pending.delete(hostname))
    .then(
      (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
      (error) => callback(error, ''),
    );
};
