import { ask, createPost } from '../support/ask.ts';
import { requireSyncedFolder } from '../support/folder.ts';
import { compareRates } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import { newTask } from '../support/tasks.ts';
import type { Row } from './row.ts';

const connections = 64;

/** Creating tasks that outlive the process, compared with tasks in memory. */
export const fileStore: Row = {
  id: 'B21',
  measure: async (bench) => {
    const { scope, cores } = bench;
    await requireSyncedFolder(scope.folder);
    const start = async (store: string) => {
      const server = await startSignalbox(scope, cores, { flags: ['--store', store] });
      const request = { ...createPost(`${server.url}/api/tasks`, newTask), connections };
      await ask(request);
      return { server, request };
    };
    const { figures, ...measured } = await compareRates(bench, await start('file'), await start('memory'));
    return [
      {
        id: 'B21',
        work: `POST /api/tasks, --store file, ${connections} connections, answered after fdatasync`,
        unit: '/s',
        ...measured,
        beside: { name: 'itself with --store memory', figures },
        goals: [{ of: 'ratio', atLeast: 0.6 }],
      },
    ];
  },
};
