import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { findFreePort } from '../../test/support/free-port.ts';
import { send } from '../support/http.ts';
import { startProgram } from '../support/program.ts';
import type { Peer } from './peer.ts';

const config = 'route:\n  receiver: nobody\nreceivers:\n  - name: nobody\n';
const hourMs = 60 * 60 * 1000;

interface Alert {
  labels: { record?: string };
}

/** Alertmanager with one route without receivers: each record is an alert that lasts an hour. */
export const alertmanager: Peer = {
  name: 'Alertmanager',
  start: async (folder) => {
    const agent = new Agent({ keepAlive: true });
    const address = `127.0.0.1:${await findFreePort()}`;
    const url = `http://${address}/api/v2/alerts`;
    await writeFile(join(folder, 'alertmanager.yml'), config);
    const args = [
      `--config.file=${join(folder, 'alertmanager.yml')}`,
      `--storage.path=${folder}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ];
    const isReady = async () => (await send(url, { agent, method: 'GET' }))?.status === 200;
    const { kill } = await startProgram('prometheus-alertmanager', args, isReady);
    return {
      kill,
      connect: async () => ({
        send: async (record) => (await send(url, { agent, body: [createAlert(record)] }))?.status === 200,
        close: () => undefined,
      }),
      list: () => list(url, agent),
    };
  },
};

const list = async (url: string, agent: Agent): Promise<string[]> => {
  const alerts: Alert[] = JSON.parse((await send(url, { agent, method: 'GET' }))?.text ?? '[]');
  return alerts.map(({ labels: { record = '' } }) => record);
};

const createAlert = (record: string): object => ({
  labels: { alertname: 'test', record },
  endsAt: new Date(Date.now() + hourMs).toISOString(),
});
