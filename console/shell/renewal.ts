import { client } from '../api.ts';
import { isMounted } from '../routes.ts';
import { renew, session } from '../session.ts';

/** Earliest and latest time before expiry, in milliseconds, at which an active session is renewed. */
const [earliest, latest] = [30 * 60_000, 60_000];
/** Milliseconds before the next attempt. */
const pause = 60_000;

let lastAttempt = Number.NEGATIVE_INFINITY;

const onUse = async (): Promise<void> => {
  const { expiresAt = 0, token } = session.value ?? {};
  const left = expiresAt - Date.now();
  if (left > earliest || left < latest || Date.now() - lastAttempt < pause || !isMounted('renewSession')) return;
  lastAttempt = Date.now();
  // A session that cannot be renewed expires.
  const renewed = await client.renewSession().catch(() => undefined);
  if (renewed && session.value?.token === token) renew(renewed.token, Date.now() + renewed.expiresIn * 1000);
};

/** Renews the session while the page is in use. */
export const startRenewal = (): void => {
  for (const type of ['keydown', 'pointerdown']) addEventListener(type, () => void onUse());
};
