import { readTask } from './b1-read-task.ts';
import { listTasks } from './b2-list-tasks.ts';
import { listSizes } from './b3-list-sizes.ts';
import { createTask } from './b4-create-task.ts';
import { alertGroups, alerts } from './b5-alerts.ts';
import { longLog } from './b6-long-log.ts';
import { processesHammered } from './b7-hammered.ts';
import { processes } from './b7-processes.ts';
import { execute } from './b8-execute.ts';
import { taskCreating, taskReading } from './b9-json-server.ts';
import { footprint } from './b10-footprint.ts';
import { taskMemory } from './b10-task-memory.ts';
import { slowReader } from './b11-slow-reader.ts';
import { searchDay } from './b12-search-day.ts';
import { histogram } from './b13-histogram.ts';
import { deliveries } from './b14-deliveries.ts';
import { deadDestination } from './b15-dead-destination.ts';
import { executableStart } from './b16-executable.ts';
import { postgresCreate } from './b17-postgres-create.ts';
import { postgresRead } from './b18-postgres-read.ts';
import { postgresList } from './b19-postgres-list.ts';
import { postgresInstances } from './b20-postgres-instances.ts';
import { fileStore } from './b21-file-store.ts';
import { consoleCost } from './b22-console.ts';
import { firstStart } from './b23-first-start.ts';
import type { Row } from './row.ts';

/** All rows of docs/benchmarks.md in order; rows with the same id are selected together and measured separately. */
export const rows: readonly Row[] = [
  ...[readTask, listTasks, listSizes, createTask, alerts, alertGroups, longLog],
  ...[processes, processesHammered, execute, taskReading, taskCreating, footprint, taskMemory, slowReader],
  ...[searchDay, histogram, deliveries, deadDestination, executableStart],
  ...[postgresCreate, postgresRead, postgresList, postgresInstances, fileStore, consoleCost],
  firstStart,
];
