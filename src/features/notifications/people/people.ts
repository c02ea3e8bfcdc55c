import { HttpError } from '../../../http/errors.ts';
import type { Concern } from '../../../kit/feature.ts';
import type { KnownUser } from '../../../kit/offers.ts';
import { type Reach, UncheckedAddress } from '../../../kit/reach.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import type { SettingStore } from '../../../kit/setting-store.ts';
import type { DestinationDefinition } from '../destinations/definition.ts';
import { deleteOwned, isSameUser } from './removal.ts';
import { type MailServer, splitWayName, toDelay, toWayDefinition } from './way.ts';
import { type KnownWay, mostWaysEach, type PersonKeeper, personKind, type WayKeeper, wayKind } from './way-kind.ts';

/** Source of the users for whom contact methods are managed. */
interface UserSource {
  listUsers(): readonly KnownUser[];
}

interface PeopleParts {
  settings: SettingStore;
  reach: Reach;
  clock: () => Date;
  users: UserSource | undefined;
  /** Returns the destination with the mail server for contact methods that have no server themselves. */
  findMail(): MailServer | undefined;
  onUnusable(name: string, error: Error): void;
}

/** People, and the ways to reach them. */
export class People {
  readonly ways: WayKeeper;
  readonly people: PersonKeeper;
  readonly #parts: PeopleParts;
  /**
   * Definition of each contact method, or the reason why the contact method cannot be used. Undefined after a change,
   * until recomputed.
   */
  #resolved: ReadonlyMap<string, DestinationDefinition | string> | undefined;

  constructor(parts: PeopleParts) {
    const { settings, onUnusable } = parts;
    this.#parts = parts;
    this.ways = new SettingKeeper(wayKind, { settings, check: (way) => this.#check(way), onUnusable });
    this.people = new SettingKeeper(personKind, { settings, onUnusable });
    this.onChanged(() => this.reset());
  }

  /** Calls the listener when contact methods or quiet hours have changed. Responses to changes wait for its promise. */
  onChanged(listener: () => void | Promise<void>): void {
    this.ways.onChanged(listener);
    this.people.onChanged(listener);
  }

  /** Returns the users. Undefined while they are unknown. */
  listUsers(): readonly KnownUser[] | undefined {
    const users = this.#parts.users?.listUsers() ?? [];
    return users.length > 0 ? users : undefined;
  }

  isUser(name: string): boolean {
    return this.listUsers()?.some((user) => user.name === name) ?? true;
  }

  /** Returns the contact methods of a person, sorted by delay. */
  waysOf(person: string): KnownWay[] {
    const delayOf = ({ setting }: KnownWay): number => toDelay(setting.value.delay);
    const own = this.ways.list().filter((way) => way.person === person);
    return own.toSorted((one, other) => delayOf(one) - delayOf(other));
  }

  /** Returns the definition of a contact method. Throws an Error if the contact method cannot be used. */
  definitionOf({ name, person, setting }: KnownWay): DestinationDefinition {
    const known = this.people.find(person);
    const quiet = known ? { ...known.quiet, text: JSON.stringify(known.setting.value) } : noQuiet;
    const { value, createdAt } = setting;
    return toWayDefinition(name, value, createdAt, quiet, this.#parts.findMail());
  }

  /** Returns the reason why a contact method cannot be used. Null for a usable contact method. */
  findProblem({ name }: KnownWay): string | null {
    const found = this.#resolve().get(name);
    return typeof found === 'string' ? found : null;
  }

  /** Discards the resolved contact methods. Called when users or destinations have changed. */
  reset(): void {
    this.#resolved = undefined;
  }

  /** Returns the definitions of all usable contact methods. Contact methods of deleted users are not used. */
  listDefinitions(): DestinationDefinition[] {
    return [...this.#resolve().values()].filter((found) => typeof found !== 'string');
  }

  /** Returns a concern for the status if contact methods of existing users cannot be used. */
  findConcerns(): Concern[] {
    const ways = this.ways.list().filter(({ person }) => this.isUser(person));
    const count = ways.filter((way) => this.findProblem(way) !== null).length;
    const subject = count === 1 ? 'contact method' : 'contact methods';
    return count === 0 ? [] : [{ area: 'deliveries', severity: 'WARNING', text: `${count} ${subject} cannot be used` }];
  }

  /** Deletes the contact methods and quiet hours of a user. */
  async deleteOf(user: string, by: string): Promise<void> {
    await deleteOwned(this.ways, ({ name }) => isSameUser(splitWayName(name)?.person, user), by);
    await deleteOwned(this.people, ({ name }) => isSameUser(name, user), by);
  }

  /** Returns the people with a usable contact method. */
  listReachable(): string[] {
    const usable = this.ways.list().filter((way) => this.findProblem(way) === null);
    return [...new Set(usable.map(({ person }) => person))];
  }

  /** Returns the definition of each contact method, or the reason why the contact method cannot be used. */
  #resolve(): ReadonlyMap<string, DestinationDefinition | string> {
    this.#resolved ??= new Map(this.ways.list().map((way) => [way.name, this.#resolveOne(way)]));
    return this.#resolved;
  }

  #resolveOne(way: KnownWay): DestinationDefinition | string {
    if (!this.isUser(way.person)) return `there is no user ${way.person}`;
    try {
      return this.definitionOf(way);
    } catch (error) {
      return (error as Error).message;
    }
  }

  #check(way: KnownWay): void {
    const others = this.waysOf(way.person).filter(({ name }) => name !== way.name);
    if (others.length >= mostWaysEach) {
      throw new HttpError('wrong-state', `A person can have at most ${mostWaysEach} contact methods: delete one first`);
    }
    try {
      const definition = this.definitionOf(way);
      if (definition.isRuntimeSetting) this.#parts.reach.assertHost(definition.receiver.url.hostname);
    } catch (error) {
      const isForbidden = error instanceof UncheckedAddress;
      const { message } = error as Error;
      throw new HttpError('invalid', isForbidden ? `${message}: ask an administrator to allow the host` : message);
    }
  }
}

const noQuiet = { hours: undefined, except: new Set<never>() };
