import { client } from '../api.ts';
import { logIn } from '../session.ts';

/**
 * Logs in and starts a session. On request, the tab stores the session. Throws an ApiError with a message for the user.
 */
export const logInAs = async (name: string, password: string, isKept = false): Promise<void> => {
  const { token, expiresIn, role } = await client.login({ Username: name, Password: password });
  logIn({ name, role, token, expiresAt: Date.now() + expiresIn * 1000 }, isKept);
};
