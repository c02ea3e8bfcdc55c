import type { Row } from '../support/run.ts';
import { checks } from './checks.ts';
import { deliveries } from './deliveries.ts';
import * as footprint from './footprint.ts';
import { heartbeats } from './heartbeats.ts';
import { hosts } from './hosts.ts';
import { httpRows } from './http.ts';
import * as latency from './latency.ts';
import * as logs from './logs.ts';
import { mixedLife } from './mixed-life.ts';
import { notification } from './notifications.ts';
import * as postgres from './postgres.ts';

const all: Row[] = [
  ...httpRows,
  ['B6', logs.longLogs],
  ['B7', latency.hammered],
  ['B10', footprint.startAndMemory],
  ['B11', latency.slowReader],
  ['B12', logs.searchDay],
  ['B13', logs.histogram],
  ['B14', deliveries],
  ['B15', latency.deadDestination],
  ['B16', footprint.executableStart],
  ['B17', postgres.createTasks],
  ['B18', postgres.readTasks],
  ['B19', postgres.listTasks],
  ['B20', postgres.twoInstances],
  ['B22', footprint.consoleCost],
  ['B23', footprint.firstStart],
  ['B28', latency.watched],
  ['B30', notification],
  ['B31', mixedLife],
  ['B32', heartbeats],
  ['B34', hosts],
  ['B37', checks],
];

const toNumber = ([id]: Row): number => Number.parseInt(id.slice(1), 10);

/** All rows, ordered by number. */
export const rows: readonly Row[] = all.sort((a, b) => toNumber(a) - toNumber(b));
