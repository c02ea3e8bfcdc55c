import type { FastifyBaseLogger } from 'fastify';
import { SettingsError } from '../../../config/settings-error.ts';
import { HttpError } from '../../../http/errors.ts';
import type { Offers } from '../../../kit/offers.ts';
import { SettingKeeper } from '../../../kit/setting-keeper.ts';
import { listApplied, type OverrideKeeper, Overrides, overrideKind } from './overrides.ts';
import { type KnownRotation, type RotationKeeper, rotationKind } from './rotation-kind.ts';
import { Rotations } from './rotations.ts';
import type { RotationSettings } from './settings.ts';

interface OpenRotations {
  rotations: Rotations;
  keeper: RotationKeeper;
  overrides: Overrides;
  /** Messages on startup about people without an account. */
  notices: string[];
  /** Applies the rotations in a reloaded config file. Returns messages to print. */
  configure(configured: readonly RotationSettings[]): string[];
  /** Counts the rotations that name a person without an account. */
  countUnknown(): number;
}

interface OpenerParts {
  offers: Offers & Required<Pick<Offers, 'settings'>>;
  clock: () => Date;
  log: Pick<FastifyBaseLogger, 'error'>;
}

/**
 * Opens the rotations and overrides from the config file and the runtime settings. If the config file defines the
 * users, throws a SettingsError for a person who is not a user.
 */
export const openRotations = (
  configured: readonly RotationSettings[],
  { offers, clock, log }: OpenerParts,
): OpenRotations => {
  const { settings, accounts } = offers;
  /**
   * True for the name of a user. While the users are unknown, every name counts as a user, because a gap would notify
   * nobody.
   */
  const isUser = (name: string): boolean =>
    accounts === undefined || !settings.isRead() || accounts.findUser(name) !== undefined;
  const listUnknown = ({ rotation: { kind, members } }: KnownRotation): string[] =>
    kind === 'person' ? members.filter((member) => !isUser(member)) : [];
  const keeper: RotationKeeper = new SettingKeeper(rotationKind, {
    settings,
    configured,
    onUnusable: (name, err) => log.error({ err, name }, 'oncall: a stored rotation cannot be used and has no effect'),
    check: (known) => {
      const [unknown] = listUnknown(known);
      if (unknown !== undefined)
        throw new HttpError('invalid', `There is no user ${JSON.stringify(unknown)}; ${describeUsers(accounts)}`);
    },
  });
  const listProblems = (): string[] =>
    keeper
      .listConfigured()
      .flatMap((known) => listUnknown(known).map((name) => `rotation "${known.name}": ${toProblem(name)}`));
  const problems = listProblems();
  const hasUsers = accounts?.listUsers().some(({ isConfigured }) => isConfigured) === true;
  if (problems.length > 0 && hasUsers) throw new SettingsError(problems.map((problem) => `${problem}; ${advice}`));
  const overrideKeeper: OverrideKeeper = new SettingKeeper(overrideKind, { settings });
  const rotations = new Rotations({
    listRotations: () => keeper.list().map(({ rotation }) => rotation),
    listOverrides: () => listApplied(overrideKeeper),
    isUser,
  });
  for (const each of [keeper, overrideKeeper]) each.onChanged(() => rotations.refresh());
  let users = '';
  accounts?.onChanged(() => {
    const names = accounts.listUsers().map(({ name }) => name);
    // Ending a session does not change users.
    if (names.join() !== users) rotations.refresh();
    users = names.join();
  });
  const toNotices = (found: readonly string[]) => found.map((problem) => `Warning: ${problem}; ${advice}`);
  return {
    rotations,
    keeper,
    overrides: new Overrides(overrideKeeper, rotations, clock),
    notices: toNotices(problems),
    configure: (changed) => {
      keeper.configure(changed);
      return toNotices(listProblems());
    },
    countUnknown: () => keeper.list().filter((known) => listUnknown(known).length > 0).length,
  };
};

const advice = 'create the user, or remove the name';

const toProblem = (name: string): string => `there is no user ${JSON.stringify(name)}`;

const describeUsers = (accounts: Offers['accounts']): string =>
  `the users are: ${
    accounts
      ?.listUsers()
      .slice(0, 20)
      .map(({ name }) => name)
      .join(', ') || 'none'
  }`;
