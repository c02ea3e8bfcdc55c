import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Form of an address as some proxies write it: with the port of the client, and IPv6 in brackets. */
const withPort = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;

/**
 * Returns the group of addresses that a single client can be expected to hold: an IPv4 address, including one mapped
 * into IPv6 (RFC 4291, 2.5.5.2), or an IPv6 /64 (RFC 6177: the smallest network assigned to a site). All other strings
 * form a single group, because otherwise each new string would count as a new client.
 */
export const toAddressGroup = (ip = ''): string => {
  const [, bracketed, dotted] = withPort.exec(ip) ?? [];
  const address = (bracketed ?? dotted ?? ip).replace(/%.*$/, '');
  const family = isIP(address);
  if (family !== 6) return family === 4 ? address : 'no address';
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return `${parsed.toNormalizedString().split(':', 4).join(':')}::/64`;
};

/** Holder of part of a total, such as a connection, a body, a stream, or a place in a queue. */
export interface Holder {
  /** Called when another holder needs the share. By then, the share has been released. */
  lose(): void;
  /**
   * Decides which holders of an address lose their shares first: abandoned, then idle (the default), then busy.
   * Abandoned holders also lose their shares to any address that holds the same amount, including their own.
   */
  activity?(): 'abandoned' | 'idle' | 'busy';
}

/** Part of a total that a holder has. */
export interface Share {
  readonly holder: Holder;
  readonly group: Group;
  amount: number;
  /** True if the share is to be lost, provided that all chosen shares together free enough. */
  isChosen: boolean;
}

/** One address, or several addresses that a single client can be expected to hold (`toAddressGroup`). */
interface Group {
  /** Name of the group. Undefined for a holder that does not belong to an address. */
  readonly name: string | undefined;
  held: number;
  /** Amount held in chosen shares. */
  chosen: number;
  /** Shares, oldest first. */
  readonly shares: Set<Share>;
}

interface Options {
  /** Milliseconds for which other addresses are limited to their fair part after an address found no room. */
  memory?: number;
  /** Returns monotonic milliseconds. */
  now?(): number;
}

/**
 * Maximum number of shares examined to find one to take away. A group counts as large if it holds more than a
 * thousandth of the total.
 */
const most = 1000;

/**
 * Divides a total between addresses. While there is room, an address may hold any amount. Once the total is reached, a
 * request by one address takes room from the address that holds the most, but only if that address holds more than the
 * requesting address would. After an address within its fair part has found no room, no other address can grow beyond
 * its own fair part for some seconds. This applies even if room becomes free, because the excess would have to be taken
 * back at the next request.
 */
export class FairShares {
  readonly #total: number;
  /** Amount that an address may hold while others also ask: a quarter. */
  readonly #fair: number;
  readonly #memory: number;
  readonly #now: () => number;
  readonly #groups = new Map<string, Group>();
  /** Groups that hold more than a thousandth of the total. There can be at most a thousand of them. */
  readonly #large = new Set<Group>();
  /** All shares, oldest first. */
  readonly #shares = new Set<Share>();
  #held = 0;
  /** Last group that found no room although it was within its fair part, and the last different group before it. */
  #lastShort: { group: Group | undefined; at: number } = { group: undefined, at: Number.NEGATIVE_INFINITY };
  #shortBefore = this.#lastShort;

  constructor(total: number, { memory = 10_000, now = () => performance.now() }: Options = {}) {
    this.#total = total;
    this.#fair = Math.max(1, Math.floor(total / 4));
    this.#memory = memory;
    this.#now = now;
  }

  /** Amount held by all addresses together. */
  get held(): number {
    return this.#held;
  }

  /**
   * Gives an amount to a new holder at an address. Returns undefined if there is no room. Other holders may lose their
   * shares.
   */
  take(address: string | undefined, holder: Holder, amount = 1): Share | undefined {
    const name = toAddressGroup(address);
    const group = this.#groups.get(name) ?? createGroup(name);
    const share = this.#take(group, holder, amount);
    if (share) this.#groups.set(name, group);
    return share;
  }

  /** Gives one unit to a holder that counts as a separate address. A connection of a proxy may carry any client. */
  takeApart(holder: Holder): Share | undefined {
    return this.#take(createGroup(undefined), holder, 1);
  }

  /** Enlarges a share. Returns false, without changing the share, if there is no room. */
  grow(share: Share, amount: number): boolean {
    if (!this.#makeRoom(share.group, amount, share)) return false;
    share.amount += amount;
    this.#add(share.group, amount);
    return true;
  }

  /** Releases a share. Does nothing if the share has already been released. */
  release(share: Share): void {
    const { group } = share;
    if (!this.#shares.delete(share)) return;
    group.shares.delete(share);
    this.#add(group, -share.amount);
    if (group.shares.size === 0 && group.name !== undefined) this.#groups.delete(group.name);
  }

  #take(group: Group, holder: Holder, amount: number): Share | undefined {
    if (!this.#makeRoom(group, amount)) return undefined;
    const share = { holder, group, amount, isChosen: false };
    this.#shares.add(share);
    group.shares.add(share);
    this.#add(group, amount);
    return share;
  }

  #add(group: Group, amount: number): void {
    group.held += amount;
    this.#held += amount;
    if (group.held * most > this.#total) this.#large.add(group);
    else this.#large.delete(group);
  }

  #makeRoom(group: Group, amount: number, growing?: Share): boolean {
    const wanted = group.held + amount;
    // An address that has held nothing for a while has a new group.
    const isLastShort = isSame(this.#lastShort.group, group);
    const otherShortAt = isLastShort ? this.#shortBefore.at : this.#lastShort.at;
    if (wanted > this.#fair && this.#now() - otherShortAt < this.#memory) return false;
    if (this.#held + amount <= this.#total) return true;
    if (wanted <= this.#fair) {
      if (!isLastShort) this.#shortBefore = this.#lastShort;
      this.#lastShort = { group, at: this.#now() };
    }
    for (const share of this.#chooseLosing(group, amount, growing)) {
      // A holder that lost its share may have released other shares.
      if (!this.#shares.has(share)) continue;
      this.release(share);
      share.holder.lose();
    }
    return this.#held + amount <= this.#total;
  }

  /** Chooses shares to take away so that an amount fits. Empty if they would not suffice. */
  #chooseLosing(group: Group, amount: number, growing?: Share): Share[] {
    const chosen: Share[] = [];
    let missing = this.#held + amount - this.#total;
    while (missing > 0) {
      const share = this.#findLosing(group.held + amount) ?? this.#findAbandoned(group, growing);
      if (!share) break;
      chosen.push(share);
      share.isChosen = true;
      share.group.chosen += share.amount;
      missing -= share.amount;
    }
    for (const share of chosen) {
      share.isChosen = false;
      share.group.chosen = 0;
    }
    return missing > 0 ? [] : chosen;
  }

  /**
   * Returns the first share to take away from the group that holds the most. That group must hold more than `wanted`.
   */
  #findLosing(wanted: number): Share | undefined {
    let largest: Group | undefined;
    for (const group of this.#large) if (leftOf(group) > (largest ? leftOf(largest) : wanted)) largest = group;
    return largest && findFirstLosing(largest.shares);
  }

  /**
   * Returns the oldest abandoned share of a group that holds as much as this group. Never returns the share that grows.
   */
  #findAbandoned(group: Group, growing: Share | undefined): Share | undefined {
    let left = most;
    for (const share of this.#shares) {
      if (share.isChosen) continue;
      const isOther = share !== growing && leftOf(share.group) >= leftOf(group);
      if (isOther && share.holder.activity?.() === 'abandoned') return share;
      left -= 1;
      if (left === 0) break;
    }
    return undefined;
  }
}

const createGroup = (name: string | undefined): Group => ({ name, held: 0, chosen: 0, shares: new Set() });

/** Returns the amount in the group's shares that have not been chosen. */
const leftOf = ({ held, chosen }: Group): number => held - chosen;

const isSame = (one: Group | undefined, other: Group): boolean =>
  one === other || (one?.name !== undefined && one.name === other.name);

/** Returns the oldest abandoned share, or else the oldest idle share, or else the oldest share. */
const findFirstLosing = (shares: Iterable<Share>): Share | undefined => {
  let oldest: Share | undefined;
  let idle: Share | undefined;
  let left = most;
  for (const share of shares) {
    if (share.isChosen) continue;
    oldest ??= share;
    const activity = share.holder.activity?.() ?? 'idle';
    if (activity === 'abandoned') return share;
    if (activity === 'idle') idle ??= share;
    left -= 1;
    if (left === 0) break;
  }
  return idle ?? oldest;
};
