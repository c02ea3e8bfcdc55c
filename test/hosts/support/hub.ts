import { passwords } from '../../support/credentials.ts';
import { createFolder } from '../../support/folder.ts';
import { type Running, startProgram } from '../../support/program.ts';
import type { Scope } from '../../support/scope.ts';

export const hubVariables = {
  SIGNALBOX_ADMIN_PASSWORD: passwords.admin,
  SIGNALBOX_READER_PASSWORD: passwords.reader,
  SIGNALBOX_JWT_SECRET: 'a secret of the tests with more than 32 bytes',
};

export const logIn = async ({ request }: Pick<Running, 'request'>): Promise<string> => {
  const body = { Username: 'admin', Password: passwords.admin };
  const { json } = await request('POST', '/api/auth/login', { body });
  return json['token'] as string;
};

/** Starts a hub as a separate process, by default with a new data folder and a free port. */
export const startHub = async (
  t: Scope,
  { dataDir = createFolder(t), port = '0', args = [] }: { dataDir?: string; port?: string; args?: string[] } = {},
): Promise<{ hub: Running; token: string }> => {
  const hub = await startProgram(t, ['--data-dir', dataDir, '--port', port, ...args], { variables: hubVariables });
  return { hub, token: await logIn(hub) };
};
