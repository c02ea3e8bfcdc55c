import type { Row } from '../support/run.ts';
import { deliveries } from './deliveries.ts';
import { footprintRows } from './footprint.ts';
import { httpRows } from './http.ts';
import { latencyRows } from './latency.ts';
import { logRows } from './logs.ts';
import { mixedLife } from './mixed-life.ts';
import { postgresRows } from './postgres.ts';

const all: Row[] = [
  ...[httpRows, logRows, latencyRows, footprintRows, postgresRows].flat(),
  ['B14', deliveries],
  ['B31', mixedLife],
];

const toNumber = ([id]: Row): number => Number.parseInt(id.slice(1), 10);

/** All rows in the order of their numbers. */
export const rows: readonly Row[] = all.sort((a, b) => toNumber(a) - toNumber(b));
