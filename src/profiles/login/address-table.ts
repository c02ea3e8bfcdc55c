import { toAddressGroup } from './address-group.ts';

export interface Address {
  /** Wrong logins by user; those for names that no user has are together. */
  wrong: Map<string | undefined, number>;
  /** When the last one was, in seconds. */
  lastWrong: number;
  /** Logins that are being checked. */
  pending: number;
}

interface AddressTable {
  /** What is known of an address; a new entry, not yet kept, where that is nothing. */
  read(ip: string): Address;
  /** Keeps an entry as the newest. */
  keep(ip: string, address: Address): void;
  /** Forgets an entry that says nothing. */
  dropIfEmpty(ip: string, address: Address): void;
}

/** Seconds after its last wrong login when an address is forgotten. */
const addressMemory = 3600;

/** Addresses that failed, at most `capacity` of them: beyond, the one whose last failure is longest ago goes. */
export const createAddressTable = (now: () => number, capacity: number): AddressTable => {
  // In the order of their last failures, the oldest first.
  const addresses = new Map<string, Address>();
  const isOld = ({ pending, lastWrong }: Address) => pending === 0 && now() - lastWrong > addressMemory;
  return {
    read: (ip) => {
      const address = addresses.get(toAddressGroup(ip));
      return address && !isOld(address) ? address : { wrong: new Map(), lastWrong: now(), pending: 0 };
    },
    keep: (ip, address) => {
      const group = toAddressGroup(ip);
      addresses.delete(group);
      addresses.set(group, address);
      for (const [oldest, other] of addresses) {
        if (addresses.size <= capacity && !isOld(other)) break;
        addresses.delete(oldest);
      }
    },
    dropIfEmpty: (ip, { pending, wrong }) => {
      if (pending === 0 && wrong.size === 0) addresses.delete(toAddressGroup(ip));
    },
  };
};
