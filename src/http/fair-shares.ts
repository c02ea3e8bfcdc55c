import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address as some proxies write it: with the client's port, IPv6 in brackets. */
const withPort = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/;

/**
 * The addresses that one client can be expected to hold: an IPv4 address, also if it is mapped into IPv6 (RFC 4291,
 * 2.5.5.2), or an IPv6 /64 (RFC 6177: the smallest network that a site is given). Everything that is not an address
 * is one group, because otherwise each new text would be a new client.
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

/** Something that holds part of a total: a connection, a body, a stream, a place in a queue. */
export interface Holder {
  /** Called when another holder needs its part, which is free again by then. */
  lose(): void;
  /**
   * Of an address that must lose something, abandoned holders lose first, then idle ones, which all are by default, then
   * busy ones. Abandoned ones also lose to addresses that hold as much, their own too.
   */
  activity?(): 'abandoned' | 'idle' | 'busy';
}

/** The part of a total that a holder has. */
export interface Part {
  readonly holder: Holder;
  readonly group: Group;
  amount: number;
}

/** An address, or several that one client can be expected to hold (`toAddressGroup`). */
interface Group {
  /** Undefined for a holder that stands apart. */
  readonly name: string | undefined;
  held: number;
  /** Oldest first. */
  readonly parts: Set<Part>;
}

interface Options {
  /** The share of the total that an address may hold while others ask. */
  share?: number;
  /** Milliseconds after an address found nothing free for which the others are kept to their shares. */
  memory?: number;
  /** Milliseconds, monotonic. */
  now?(): number;
}

/** Parts that are to be lost, and what is left then. */
class Chosen {
  readonly parts = new Set<Part>();
  amount = 0;
  readonly #amounts = new Map<Group, number>();

  add(part: Part): void {
    this.parts.add(part);
    this.amount += part.amount;
    this.#amounts.set(part.group, (this.#amounts.get(part.group) ?? 0) + part.amount);
  }

  leftOf(group: Group): number {
    return group.held - (this.#amounts.get(group) ?? 0);
  }
}

/** At most so many parts are looked at to find one that can be lost, and groups that hold more than a part in so many. */
const most = 1000;

/**
 * Divides a total between addresses. While there is room, an address may hold any amount. When the total is reached, an
 * address that asks gets room from the address that holds the most, if that one holds more than the asking one would.
 * For some seconds after an address within its share found no room, no other address can grow beyond its own share, even
 * if there is room again: it would have to be taken back at the next request.
 */
export class FairShares {
  readonly #total: number;
  readonly #share: number;
  readonly #memory: number;
  readonly #now: () => number;
  readonly #groups = new Map<string, Group>();
  /** The groups that hold more than a thousandth of the total, so at most a thousand. */
  readonly #large = new Set<Group>();
  /** All parts, oldest first. */
  readonly #parts = new Set<Part>();
  #held = 0;
  /** The last group within its share that found no room, and the last one before it that is another. */
  #lastShort: { group: Group | undefined; at: number } = { group: undefined, at: Number.NEGATIVE_INFINITY };
  #shortBefore = this.#lastShort;

  constructor(total: number, { share = 1 / 4, memory = 10_000, now = () => performance.now() }: Options = {}) {
    this.#total = total;
    this.#share = Math.max(1, Math.floor(total * share));
    this.#memory = memory;
    this.#now = now;
  }

  /** What all addresses together hold. */
  get held(): number {
    return this.#held;
  }

  /** Gives an amount to a new holder at an address; undefined if there is none for it. Others may lose theirs. */
  take(address: string | undefined, holder: Holder, amount = 1): Part | undefined {
    const name = toAddressGroup(address);
    const group = this.#groups.get(name) ?? { name, held: 0, parts: new Set() };
    const part = this.#take(group, holder, amount);
    if (part) this.#groups.set(name, group);
    return part;
  }

  /** The same for a holder that counts as an address of its own: the connection of a proxy can be any client's. */
  takeApart(holder: Holder, amount = 1): Part | undefined {
    return this.#take({ name: undefined, held: 0, parts: new Set() }, holder, amount);
  }

  /** Gives more to a holder; false if there is none for it, and then it holds what it did before. */
  grow(part: Part, amount: number): boolean {
    if (!this.#makeRoom(part.group, amount, part)) return false;
    part.amount += amount;
    this.#add(part.group, amount);
    return true;
  }

  /** Takes back what a holder has. Does nothing if that was done before. */
  release(part: Part): void {
    const { group } = part;
    if (!this.#parts.delete(part)) return;
    group.parts.delete(part);
    this.#add(group, -part.amount);
    if (group.parts.size === 0 && group.name !== undefined) this.#groups.delete(group.name);
  }

  #take(group: Group, holder: Holder, amount: number): Part | undefined {
    if (!this.#makeRoom(group, amount)) return undefined;
    const part = { holder, group, amount };
    this.#parts.add(part);
    group.parts.add(part);
    this.#add(group, amount);
    return part;
  }

  #add(group: Group, amount: number): void {
    group.held += amount;
    this.#held += amount;
    if (group.held * most > this.#total) this.#large.add(group);
    else this.#large.delete(group);
  }

  #makeRoom(group: Group, amount: number, growing?: Part): boolean {
    const wanted = group.held + amount;
    if (wanted > this.#share && this.#now() - this.#lastShortApartFrom(group) < this.#memory) return false;
    if (this.#held + amount <= this.#total) return true;
    if (wanted <= this.#share) this.#noteShort(group);
    const losing = this.#chooseLosing(group, amount, growing);
    for (const part of losing) {
      // A holder that has lost its part may have released others.
      if (!this.#parts.has(part)) continue;
      this.release(part);
      part.holder.lose();
    }
    return this.#held + amount <= this.#total;
  }

  /** The parts that make room for an amount if they are lost; empty if there is not enough of them. */
  #chooseLosing(group: Group, amount: number, growing?: Part): ReadonlySet<Part> {
    const wanted = group.held + amount;
    const chosen = new Chosen();
    while (this.#held - chosen.amount + amount > this.#total) {
      const part = this.#findLosing(wanted, chosen) ?? this.#findAbandoned(group, growing, chosen);
      if (!part) return new Set();
      chosen.add(part);
    }
    return chosen.parts;
  }

  /** What loses first of the group that holds the most, and more than `wanted`. */
  #findLosing(wanted: number, chosen: Chosen): Part | undefined {
    let largest: Group | undefined;
    let held = wanted;
    for (const group of this.#large) {
      const left = chosen.leftOf(group);
      if (left <= held) continue;
      largest = group;
      held = left;
    }
    return largest && findFirstLosing(largest.parts, chosen.parts);
  }

  /** The oldest abandoned part of a group that holds as much as this one; not the one that grows. */
  #findAbandoned(group: Group, growing: Part | undefined, chosen: Chosen): Part | undefined {
    const least = chosen.leftOf(group);
    let left = most;
    for (const part of this.#parts) {
      if (chosen.parts.has(part)) continue;
      const isOther = part !== growing && chosen.leftOf(part.group) >= least;
      if (isOther && part.holder.activity?.() === 'abandoned') return part;
      left -= 1;
      if (left === 0) return undefined;
    }
    return undefined;
  }

  #noteShort(group: Group): void {
    if (!isSame(this.#lastShort.group, group)) this.#shortBefore = this.#lastShort;
    this.#lastShort = { group, at: this.#now() };
  }

  /** When another group than this one last found no room. */
  #lastShortApartFrom(group: Group): number {
    return isSame(this.#lastShort.group, group) ? this.#shortBefore.at : this.#lastShort.at;
  }
}

/** An address that holds nothing for a while gets a new group. */
const isSame = (one: Group | undefined, other: Group): boolean =>
  one === other || (one?.name !== undefined && one.name === other.name);

/** The oldest abandoned part, else the oldest idle one, else the oldest. */
const findFirstLosing = (parts: Iterable<Part>, chosen: ReadonlySet<Part>): Part | undefined => {
  let oldest: Part | undefined;
  let idle: Part | undefined;
  let left = most;
  for (const part of parts) {
    if (chosen.has(part)) continue;
    oldest ??= part;
    const activity = part.holder.activity?.() ?? 'idle';
    if (activity === 'abandoned') return part;
    if (activity === 'idle') idle ??= part;
    left -= 1;
    if (left === 0) break;
  }
  return idle ?? oldest;
};
