import { startApp, type TestApp } from '../../support/app.ts';
import type { JsonResponse } from '../../support/client.ts';
import type { Scope } from '../../support/scope.ts';

/** Strong password. */
export const strong = 'a horse that staples batteries';

type Answer = JsonResponse<Record<string, unknown>>;

/** Starts an app without any password in its settings, as on a first start. */
export const startWithoutUsers = (t: Scope, settings: object = {}): Promise<TestApp> =>
  startApp(t, { settings: { adminPassword: undefined, readerPassword: undefined, ...settings } });

/** Returns the code in an app's setup link. */
export const codeOf = ({ invitation }: Pick<TestApp, 'invitation'>): string =>
  new URLSearchParams(invitation?.fragment.split('?')[1]).get('code') ?? '';

type Requesting = Pick<TestApp, 'request'>;

export const logIn = ({ request }: Requesting, name: string, password = strong): Promise<Answer> =>
  request('POST', '/api/auth/login', { body: { Username: name, Password: password } });

/** Logs in and returns the token. */
export const getToken = async (app: Requesting, name: string, password = strong): Promise<string> =>
  String((await logIn(app, name, password)).json['token']);

export const setUp = (app: Requesting, code: string, name = 'anna', password = strong): Promise<Answer> =>
  app.request('POST', '/api/setup', { body: { code, name, password } });

export const createUser = (app: Requesting, token: string, name: string, role = 'Reader'): Promise<Answer> =>
  app.request('POST', '/api/users', { token, body: { name, role, password: strong } });
