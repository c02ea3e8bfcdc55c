/** What a key may be used for. */
export const scopes = ['alerts:write', 'alerts:read', 'metrics:read'] as const;
export type Scope = (typeof scopes)[number];
