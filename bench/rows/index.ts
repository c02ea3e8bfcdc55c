import { readTask } from './b1-read-task.ts';
import { listTasks } from './b2-list-tasks.ts';
import { listSizes } from './b3-list-sizes.ts';
import { createTask } from './b4-create-task.ts';
import { alerts } from './b5-alerts.ts';
import { longLog } from './b6-long-log.ts';
import { processes } from './b7-processes.ts';
import { execute } from './b8-execute.ts';
import { taskRoutes } from './b9-json-server.ts';
import { footprint } from './b10-footprint.ts';
import { slowReader } from './b11-slow-reader.ts';
import type { Row } from './row.ts';

/** Every row of docs/benchmarks.md, in its order. */
export const rows: readonly Row[] = [
  ...[readTask, listTasks, listSizes, createTask, alerts, longLog],
  ...[processes, execute, taskRoutes, footprint, slowReader],
];
