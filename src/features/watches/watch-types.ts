import type { WatchSettings } from './schema.ts';
import { alertWatch } from './types/alert.ts';
import { certificateWatch } from './types/certificate.ts';
import { containerWatch } from './types/container.ts';
import { diskWatch } from './types/disk.ts';
import { dnsWatch } from './types/dns.ts';
import { domainWatch } from './types/domain.ts';
import { fileWatch } from './types/file.ts';
import { grpcWatch } from './types/grpc.ts';
import { httpWatch } from './types/http.ts';
import { mysqlWatch } from './types/mysql.ts';
import { checksWatch, databaseWatch, destinationWatch, journalWatch } from './types/own.ts';
import { pingWatch } from './types/ping.ts';
import { pluginWatch } from './types/plugin.ts';
import { postgresWatch } from './types/postgres.ts';
import { processWatch } from './types/process.ts';
import { redisWatch } from './types/redis.ts';
import { serviceWatch } from './types/service.ts';
import { tcpWatch } from './types/tcp.ts';
import {
  cpuWatch,
  loadWatch,
  memoryWatch,
  networkWatch,
  pressureWatch,
  swapWatch,
  temperatureWatch,
} from './types/usage.ts';
import type { WatchType } from './watch-type.ts';

const watchTypes: readonly WatchType[] = [
  diskWatch,
  memoryWatch,
  swapWatch,
  cpuWatch,
  loadWatch,
  networkWatch,
  pressureWatch,
  temperatureWatch,
  processWatch,
  serviceWatch,
  fileWatch,
  containerWatch,
  pluginWatch,
  httpWatch,
  tcpWatch,
  pingWatch,
  dnsWatch,
  certificateWatch,
  domainWatch,
  grpcWatch,
  postgresWatch,
  mysqlWatch,
  redisWatch,
  alertWatch,
  databaseWatch,
  journalWatch,
  destinationWatch,
  checksWatch,
];

/** Finds a type. Undefined for a name from another version. */
export const findWatchType = (name: unknown): WatchType | undefined => watchTypes.find((type) => type.name === name);

export const toWatchType = ({ type }: Pick<WatchSettings, 'type'>): WatchType => findWatchType(type) as WatchType;
