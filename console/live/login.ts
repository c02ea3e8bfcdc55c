import { client } from '../api.ts';
import { logIn } from '../session.ts';

/**
 * Logs in and starts a session. The session is stored in the tab on request. Throws an ApiError with a message for the
 * user.
 */
export const logInAs = async (name: string, password: string, isKept = false): Promise<void> => {
  const { token, expiresIn, role } = await client.login({ Username: name, Password: password });
  logIn({ name, role, token, expiresAt: Date.now() + expiresIn * 1000 }, isKept);
};
