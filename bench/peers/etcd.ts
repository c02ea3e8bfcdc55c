import { Agent } from 'node:http';
import { findFreePort } from '../../test/support/free-port.ts';
import { send } from '../support/http.ts';
import { startProgram } from '../support/program.ts';
import type { Peer } from './peer.ts';

interface Range {
  kvs?: { key: string; version: string }[];
}

/** A single etcd, used through its JSON gateway: each record is a key. */
export const etcd: Peer = {
  name: 'etcd',
  start: async (folder) => {
    const agent = new Agent({ keepAlive: true });
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const peerUrl = `http://127.0.0.1:${await findFreePort()}`;
    const flags = {
      'data-dir': folder,
      'listen-client-urls': url,
      'advertise-client-urls': url,
      'listen-peer-urls': peerUrl,
      'initial-advertise-peer-urls': peerUrl,
      'initial-cluster': `default=${peerUrl}`,
    };
    const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    const put = async (key: string): Promise<boolean> => {
      const answer = await send(`${url}/v3/kv/put`, { agent, body: { key: toBase64(key), value: '' } });
      return answer?.status === 200;
    };
    // A newly started member has no leader yet and rejects writes.
    const { kill } = await startProgram('etcd', args, () => put('ready'));
    return {
      kill,
      connect: async () => ({ send: (record) => put(`alert/${record}`), close: () => undefined }),
      list: () => list(url, agent),
    };
  },
};

/** A key's version counts its writes. */
const list = async (url: string, agent: Agent): Promise<string[]> => {
  const body = { key: toBase64('alert/'), range_end: toBase64('alert0'), keys_only: true };
  const answer = await send(`${url}/v3/kv/range`, { agent, body });
  const { kvs = [] }: Range = JSON.parse(answer?.text ?? '{}');
  return kvs.flatMap(({ key, version }) => {
    const record = Buffer.from(key, 'base64').toString().slice('alert/'.length);
    return Array.from({ length: Number(version) }, () => record);
  });
};

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');
