import { client } from '../api.ts';
import { logIn } from '../session.ts';

/** Begins a session, which the tab keeps if the user wants it; throws an ApiError whose message can be shown. */
export const logInAs = async (name: string, password: string, isKept = false): Promise<void> => {
  const { token, expiresIn, role } = await client.login({ Username: name, Password: password });
  logIn({ name, role, token, expiresAt: Date.now() + expiresIn * 1000 }, isKept);
};
