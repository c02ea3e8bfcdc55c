import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
import { readResidentBytes } from '../support/process-cost.ts';
import { readLiveBytes, startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

const count = 1_000_000;

/** Memory per task. */
export const taskMemory: Row = {
  id: 'B10',
  measure: async ({ scope, load }) => {
    const server = await startSignalbox(scope, undefined, { report: 'memory' });
    const read = async () => ({
      live: await readLiveBytes(server),
      resident: readResidentBytes(server.pid),
    });
    const before = await read();
    await load.send(createPost(`${server.url}/api/tasks`, newTask), count);
    const { total }: { total: number } = JSON.parse(await ask({ url: `${server.url}/api/tasks?limit=0` }));
    const after = await read();
    const toFinding = (work: string, key: 'live' | 'resident'): Finding => ({
      id: 'B10',
      work: `${work}, at ${total.toLocaleString('en')}`,
      unit: ' bytes',
      ours: [(after[key] - before[key]) / total],
      goals: [{ of: 'value', atMost: 400 }],
    });
    return [toFinding('memory in use for a task', 'live'), toFinding('resident memory for a task', 'resident')];
  },
};
