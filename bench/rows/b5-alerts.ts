import { ask, createPost } from '../support/ask.ts';
import type { Finding } from '../support/finding.ts';
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

interface Compared {
  /** The path of signalbox and what is sent there; and what Alertmanager gets. */
  path: string;
  ours: object;
  theirs: object;
  work: string;
  beside: string;
  goals: Finding['goals'];
}

/** signalbox, which responds once the disk has the alerts, beside Alertmanager, which keeps them in memory. */
const createRow = ({ path, ours, theirs, work, beside, goals }: Compared): Row => ({
  id: 'B5',
  measure: async (bench) => {
    const { scope, cores } = bench;
    await requireSyncedFolder(scope.folder);
    const alertmanager = await startAlertmanager(scope, cores);
    const server = await startSignalbox(scope, cores);
    const request = { ...createPost(`${server.url}${path}`, ours), connections };
    const other = { ...createPost(`${alertmanager.url}/api/v2/alerts`, theirs), connections };
    for (const each of [request, other]) await ask(each);
    const { figures, ...measured } = await compareRates(
      bench,
      { server, request },
      { server: alertmanager, request: other },
    );
    return [{ id: 'B5', work, unit: '/s', ...measured, beside: { name: beside, figures }, goals }];
  },
});

export const alerts = createRow({
  path: '/api/alert',
  ours: alert,
  theirs: labelled,
  work: `POST /api/alert, ${connections} connections, answered after fdatasync`,
  beside: 'Alertmanager, POST /api/v2/alerts',
  goals: [{ of: 'ratio', atLeast: 1.5 }],
});

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

const group = Array.from({ length: perBody }, (_, index) => ({
  ...labelled[0],
  labels: { ...labelled[0]?.labels, instance: `web-${index}` },
}));

export const alertGroups = createRow({
  path: '/api/alert/alertmanager',
  ours: webhook,
  theirs: group,
  work: `POST /api/alert/alertmanager, ${perBody} alerts in a body, ${connections} connections, answered after fdatasync`,
  beside: 'Alertmanager, POST /api/v2/alerts, the same',
  goals: [],
});
