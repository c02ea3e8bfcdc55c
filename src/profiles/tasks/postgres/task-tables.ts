import type { Statement } from '../../../storage/postgres/connecting/connection.ts';
import { claimGate, type Tables } from '../../../storage/postgres/moved-tables.ts';
import { rememberedMs } from '../../../storage/recent-keys.ts';
import { setCount, toMemberships } from '../task-sets.ts';
import type { TaskChange } from '../task-state.ts';
import { toStoredTask, toTaskText } from '../task-text.ts';
import { addRow, insert, insertKeys, toColumns } from './task-changes.ts';

/** How a database keeps tasks, the last id that was given, and the keys of requests. */
export const taskTables: Tables<TaskChange> = {
  name: 'task',
  claim: claimGate('task'),
  queries: [
    {
      text: `SELECT last_id AS "lastId" FROM signalbox.gate WHERE name = 'task'`,
      toChange: ({ lastId }) => ({ lastId }),
    },
    {
      text: 'SELECT version, body FROM signalbox.task ORDER BY id',
      toChange: ({ version, body }) => ({ task: JSON.parse(body), version }),
    },
    {
      // In the order in which their tasks were created.
      text: `SELECT key, fingerprint, answer, extract(epoch FROM at)::float8 * 1000 AS at FROM signalbox.idempotency
        WHERE at > now() - interval '${rememberedMs} milliseconds' ORDER BY substring(answer FROM '^{"Id":(\\d+)')::bigint`,
      toChange: ({ key, fingerprint, answer, at }) => ({
        key: { key, bodyHash: fingerprint, storedAt: Math.round(at) },
        task: JSON.parse(answer),
      }),
    },
  ],
  begin: () => {
    const counts = Array.from({ length: setCount }, () => 0);
    let lastId = 0;
    return {
      store: (changes) => {
        const rows = toColumns();
        const statements: Statement[] = [{ text: insert, values: rows }];
        for (const change of changes) {
          if ('lastId' in change) lastId = Math.max(lastId, change.lastId);
          else if ('key' in change) statements.push(storeKey(change));
          else if ('task' in change) {
            const { task, version } = change;
            lastId = Math.max(lastId, task.Id);
            addRow(rows, toStoredTask(toTaskText(task), version));
            const sets = toMemberships(task);
            for (let set = 0; set < setCount; set += 1) if (sets & (1 << set)) counts[set] = (counts[set] ?? 0) + 1;
          }
        }
        return statements;
      },
      finish: () => [
        {
          text: `UPDATE signalbox.gate SET last_id = $1, counts = $2 WHERE name = 'task'`,
          values: [lastId, counts],
        },
      ],
    };
  },
};

const storeKey = ({ key, task }: Extract<TaskChange, { key: object }>) => ({
  text: insertKeys,
  values: [[key.key], [key.bodyHash], [toTaskText(task)], key.storedAt / 1000],
});
