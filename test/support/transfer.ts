import { createFolder, type Scope } from './folder.ts';
import { type Running, startProgram } from './program.ts';

const secret = 'a signing key for tests, 32 bytes or more';
export const variables = { SIGNALBOX_JWT_SECRET: secret, SIGNALBOX_ADMIN_PASSWORD: 'correct horse' };

export const fileStore = (folder: string): string[] => ['--store', 'file', '--data-dir', folder];

export const start = (t: Scope, folder: string): Promise<Running> => startProgram(t, fileStore(folder), { variables });

export const logIn = async ({ request }: Running): Promise<{ Authorization: string }> => {
  const body = { Username: 'admin', Password: 'correct horse' };
  const { json } = await request('POST', '/api/auth/login', { body });
  return { Authorization: `Bearer ${json['token']}` };
};

export const header = '{"signalbox":"export","version":1}';
export const end = '{"signalbox":"end"}';
export const task = (Id: number, more = ''): string =>
  `{"tasks":{"Id":${Id},"Title":"t${Id}","Description":"","Priority":"Low","Status":"Pending","CreatedAt":"2026-01-31T09:30:00","version":1${more}}}`;

/** A folder with tasks, items and simple tasks, as a server left it. */
export const fill = async (t: Scope): Promise<string> => {
  const folder = createFolder(t);
  const server = await start(t, folder);
  const { request } = server;
  const headers = { 'Idempotency-Key': 'k' };
  const hostile = '\u0000 \ud800 \u2028 "},{"';
  await request('POST', '/api/tasks', { body: { Title: 'first', Description: hostile }, headers });
  await request('PUT', '/api/tasks/1', { body: { Status: 'InProgress' } });
  await request('POST', '/api/tasks', { body: { Title: '😀'.repeat(200), Priority: 'Critical' } });
  await request('POST', '/api/tasks', { body: { Title: 'deleted' } });
  await request('DELETE', '/api/tasks/3');
  for (const name of ['label printer', 'x'.repeat(100_000)]) {
    await request('POST', '/api/items', { body: { name }, headers: await logIn(server) });
  }
  await request('POST', '/simple/api/tasks', { body: { title: 'Get milk' } });
  await server.stop();
  return folder;
};
