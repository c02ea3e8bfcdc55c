import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/free-port.ts';
import { fillLog } from '../support/fill-log.ts';
import { requireSyncedFolder } from '../support/folder.ts';
import { measureP99 } from '../support/probe.ts';
import { takeTurns } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Row } from './row.ts';

const waiting = 100_000;
const alert = { source: 'backup', level: 'ERROR', message: 'the disk is full', hostname: 'web-1' };

/** What a destination that cannot be reached, and its backlog, cost those who send alerts. */
export const deadDestination: Row = {
  id: 'B15',
  measure: async ({ scope, cores, rounds, seconds }) => {
    await requireSyncedFolder(scope.folder);
    const url = `http://127.0.0.1:${await findFreePort()}/`;
    const destination = { name: 'dead', type: 'webhook', url, startAt: 'oldest' };
    const start = async (name: string, destinations: object[]) => {
      const dataDir = join(scope.folder, name);
      await fillLog(dataDir, waiting);
      const config = join(scope.folder, `${name}.json`);
      writeFileSync(config, JSON.stringify({ destinations }), { mode: 0o600 });
      // Refusals by a busy machine are not what is measured.
      const flags = ['--config', config, '--profiles', 'alerts,monitoring', '--max-event-loop-delay', '0'];
      const server = await startSignalbox(scope, cores, { dataDir, flags });
      return () => measureP99(`${server.url}/api/alert`, 2 * seconds, alert);
    };
    const sides = [await start('dead', [destination]), await start('none', [])];
    await takeTurns(1, sides);
    const [ours = [], figures = []] = await takeTurns(rounds, sides);
    return [
      {
        id: 'B15',
        work: `p99 of POST /api/alert with a dead destination and ${waiting.toLocaleString('en')} alerts waiting`,
        unit: ' ms',
        ours,
        beside: { name: 'without destinations', figures },
        goals: [{ of: 'ratio', atMost: 1.2 }],
      },
    ];
  },
};
