import { toAddressGroup } from '../../http/fair-shares.ts';

/** The state of the clients at an address. */
export interface Address {
  /** Wrong logins by user; those for unknown users are counted together. */
  wrong: Map<string | undefined, number>;
  /** Time of the last wrong login in seconds. */
  lastWrong: number;
  /** Logins that are being checked. */
  pending: number;
}

/** Seconds after the last wrong login until an address is forgotten. */
const addressMemory = 3600;

/** At most `capacity` addresses with wrong logins; beyond that, the one that failed longest ago is forgotten. */
export const createAddressTable = (now: () => number, capacity: number) => {
  // In order of the last wrong login, oldest first.
  const addresses = new Map<string, Address>();
  const isOld = ({ pending, lastWrong }: Address) => pending === 0 && now() - lastWrong > addressMemory;
  return {
    /** The entry of an address; a fresh, unstored one if unknown. */
    read: (ip: string | undefined): Address => {
      const address = addresses.get(toAddressGroup(ip));
      return address && !isOld(address) ? address : { wrong: new Map(), lastWrong: now(), pending: 0 };
    },
    /** Stores an entry as the newest. */
    keep: (ip: string | undefined, address: Address): void => {
      const group = toAddressGroup(ip);
      addresses.delete(group);
      addresses.set(group, address);
      for (const [oldest, other] of addresses) {
        if (addresses.size <= capacity && !isOld(other)) break;
        addresses.delete(oldest);
      }
    },
    /** Removes an entry that holds no wrong and no pending logins. */
    dropIfEmpty: (ip: string | undefined, { pending, wrong }: Address): void => {
      if (pending === 0 && wrong.size === 0) addresses.delete(toAddressGroup(ip));
    },
  };
};
