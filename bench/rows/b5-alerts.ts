import { ask, createPost } from '../support/ask.ts';
import { requireSyncedFolder } from '../support/folder.ts';
import { startAlertmanager } from '../support/opponents.ts';
import { compareRates } from '../support/rounds.ts';
import { startSignalbox } from '../support/signalbox.ts';
import type { Row } from './row.ts';

const connections = 64;
const alert = { source: 'backup', level: 'ERROR', message: 'the disk is full', hostname: 'web-1' };

/** The same alert for Alertmanager, with labels that it already knows, which is cheapest for it. */
const labelled = [
  {
    labels: { alertname: 'backup', severity: 'ERROR', instance: 'web-1' },
    annotations: { summary: 'the disk is full' },
  },
];

/** Alerts that are on disk before they are acknowledged, compared with alerts kept in memory. */
export const alerts: Row = {
  id: 'B5',
  measure: async (bench) => {
    const { scope, cores } = bench;
    await requireSyncedFolder(scope.folder);
    const alertmanager = await startAlertmanager(scope, cores);
    const server = await startSignalbox(scope, cores);
    const ours = { ...createPost(`${server.url}/api/alert`, alert), connections };
    const theirs = { ...createPost(`${alertmanager.url}/api/v2/alerts`, labelled), connections };
    for (const request of [ours, theirs]) await ask(request);
    const { figures, ...measured } = await compareRates(
      bench,
      { server, request: ours },
      { server: alertmanager, request: theirs },
    );
    return [
      {
        id: 'B5',
        work: `POST /api/alert, ${connections} connections, answered after fdatasync`,
        unit: '/s',
        ...measured,
        beside: { name: 'Alertmanager, POST /api/v2/alerts', figures },
        goals: [{ of: 'ratio', atLeast: 1.5 }],
      },
    ];
  },
};

const perBody = 10;

/** Ten alerts as Alertmanager's webhook sends them. They are never the same: repeats are not stored. */
const webhook = {
  version: '4',
  receiver: 'signalbox',
  status: 'firing',
  alerts: Array.from({ length: perBody }, (_, index) => ({
    ...labelled[0],
    status: 'firing',
    startsAt: '2026-01-31T09:30:00Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example:9090/graph?g0.expr=up',
    fingerprint: `[<id>].${index}`,
  })),
};

/** Alerts of an Alertmanager, ten in a body, beside an Alertmanager that takes ten in a body. */
export const alertGroups: Row = {
  id: 'B5',
  measure: async (bench) => {
    const { scope, cores } = bench;
    await requireSyncedFolder(scope.folder);
    const alertmanager = await startAlertmanager(scope, cores);
    const server = await startSignalbox(scope, cores);
    const group = Array.from({ length: perBody }, (_, index) => ({
      ...labelled[0],
      labels: { ...labelled[0]?.labels, instance: `web-${index}` },
    }));
    const ours = { ...createPost(`${server.url}/api/alert/alertmanager`, webhook), connections };
    const theirs = { ...createPost(`${alertmanager.url}/api/v2/alerts`, group), connections };
    for (const request of [ours, theirs]) await ask(request);
    const { figures, ...measured } = await compareRates(
      bench,
      { server, request: ours },
      { server: alertmanager, request: theirs },
    );
    return [
      {
        id: 'B5',
        work: `POST /api/alert/alertmanager, ${perBody} alerts in a body, ${connections} connections, answered after fdatasync`,
        unit: '/s',
        ...measured,
        beside: { name: 'Alertmanager, POST /api/v2/alerts, the same', figures },
        goals: [],
      },
    ];
  },
};
