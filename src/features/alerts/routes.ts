import { openFor } from '../../auth/access.ts';
import { createUnavailable, ErrorBody } from '../../http/errors.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import type { RecordLog } from '../../storage/record-log.ts';
import { createNativeRoute, createTextRoute, type IntakeParts } from './intake/native-routes.ts';
import type { AlertLog } from './log/alert-log.ts';
import { Readiness } from './schema.ts';
import { createAlertListRoute } from './search/list-route.ts';

interface AlertRouteParts extends IntakeParts {
  journal: RecordLog;
  readiness: AlertLog['readiness'];
  /** Lists the names of stores other than the alert log that currently cannot store changes. */
  listUnavailable(): Promise<string[]>;
}

/**
 * Creates the alert routes of the contract, the intake for plain text, and the readiness check at both of its paths.
 */
export const createAlertRoutes = (parts: AlertRouteParts): Route[] => [
  createNativeRoute(parts),
  createTextRoute(parts),
  createAlertListRoute(parts.journal),
  createReadinessRoute(parts, '/ready', 'getReadiness'),
  createReadinessRoute(parts, '/readyz', 'getReadyz'),
];

const createReadinessRoute = (
  { readiness, listUnavailable }: AlertRouteParts,
  path: string,
  operationId: string,
): Route =>
  defineRoute({
    method: 'GET',
    path,
    ...openFor('alerts:read'),
    staysOpen: true,
    isVital: true,
    summary: 'Check whether alerts can be stored',
    schema: { operationId, response: { 200: Readiness, 503: ErrorBody } },
    handler: async () => {
      const { isReady, unavailable } = readiness();
      if (!isReady) throw createUnavailable('The alert log cannot be written at the moment');
      const all = [...unavailable, ...(await listUnavailable())];
      return all.length === 0 ? { status: 'ready' as const } : { status: 'ready' as const, unavailable: all };
    },
  });
