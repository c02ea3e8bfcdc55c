import type { TestApp } from '../../support/app.ts';
import type { JsonResponse } from '../../support/client.ts';
import { createClaims, signToken } from '../../support/tokens.ts';

/** Route that takes a body, with a valid body and the list that shows the effect of the route. */
export interface WritingRoute {
  method: string;
  path: string;
  body: Record<string, unknown>;
  accepted: number;
  /** Path of the list that shows the effect. Undefined for a login. */
  list?: string;
}

const taskBody = { Title: 'x' };

/** Routes of tasks, simple tasks, items and login that take a body, at the default mounts. */
export const writingRoutes: readonly WritingRoute[] = [
  { method: 'POST', path: '/api/tasks', body: taskBody, accepted: 201, list: '/api/tasks' },
  { method: 'PUT', path: '/api/tasks/1', body: taskBody, accepted: 200, list: '/api/tasks' },
  { method: 'POST', path: '/protected/api/tasks', body: taskBody, accepted: 201, list: '/api/tasks' },
  {
    method: 'POST',
    path: '/simple/api/tasks',
    body: { title: 'x' },
    accepted: 201,
    list: '/simple/api/tasks',
  },
  { method: 'POST', path: '/api/items', body: { name: 'x' }, accepted: 201, list: '/api/items?size=1000' },
  {
    method: 'POST',
    path: '/api/auth/login',
    body: { Username: 'admin', Password: 'correct horse' },
    accepted: 200,
  },
];

/** Token that grants access to all these routes and lists. */
export const token = signToken(createClaims());

export const send = (
  app: TestApp,
  { method, path }: WritingRoute,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<JsonResponse<Record<string, unknown>>> => app.request(method, path, { body, token, headers });
