import Type, { type Static } from 'typebox';

/** Who may call a route: everyone, holders of a valid token, or holders of one with role Admin. */
export type Access = 'open' | 'token' | 'admin';

/** What a key may be used for. */
export const scopes = ['alerts:write', 'alerts:read', 'metrics:read'] as const;
export type Scope = (typeof scopes)[number];

/** What the setting `access` can say of one profile. */
const levels = ['open', 'login', 'admin'] as const;
export type AccessLevel = (typeof levels)[number];

/** The setting `access`: one word for all profiles, or a word for each. */
export const AccessSetting = Type.Union(
  [Type.Enum(['contract', 'login']), Type.Record(Type.String(), Type.Enum(levels))],
  {
    default: 'contract',
    description:
      'Who may use the routes: with `contract`, many need no token; with `login`, all but health checks and pages need a token or key. In the file also an object: `open`, `login` or `admin` by profile.',
  },
);
export type AccessSetting = Static<typeof AccessSetting>;
