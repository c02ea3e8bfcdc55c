import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { Value } from 'typebox/value';
import { readOperations, takesJson, toJsonSchema, withDatabase } from '../repo/support/api.ts';
import { samples } from '../support/alert-samples.ts';
import { passwords, startApp } from '../support/app.ts';
import { waitUntil } from '../support/wait.ts';
import { catchError, createClient, type LooseClient, take, typesPath } from './built-client.ts';

const credentials = { user: 'admin', password: passwords.admin };

type Call = (client: LooseClient) => Promise<unknown>;

const plain =
  (name: string, input?: object): Call =>
  ({ call }) =>
    call(name, input);

const statusPage = {
  page: 'main',
  title: 'Example',
  groups: [{ name: 'Services', checks: [{ name: 'Shop', watch: 'shop' }] }],
};

const createTask = plain('createTask', { Title: 'Check the backups' });

/** Returns a call that first creates a task. */
const withTask =
  (name: string, changes: object = {}): Call =>
  async (client) => {
    const { Id } = (await createTask(client)) as { Id: number };
    return plain(name, { id: Id, ...changes })(client);
  };

let alerts = 0;

/** Returns a call that first sends the alert of a separate incident. */
const withIncident =
  (name: string, changes: object = {}): Call =>
  async (client) => {
    const key = `incident-${alerts++}`;
    await plain('createAlert', { message: 'disk is full', key })(client);
    const { data } = (await plain('listIncidents')(client)) as { data: { id: string; key: string }[] };
    return plain(name, { id: data.find((one) => one.key === key)?.id, ...changes })(client);
  };

/** Calls a route for the picture of an incident about this machine. The picture is taken within a second. */
const withPicture: Call = async (client) => {
  const key = 'snapshot';
  await plain('createAlert', { level: 'ERROR', message: 'the demo has failed', key, hostname: hostname() })(client);
  const { data } = (await plain('listIncidents')(client)) as { data: { id: string; key: string }[] };
  const read = plain('getIncidentSnapshot', { id: data.find((one) => one.key === key)?.id });
  let found: unknown;
  await waitUntil('the incident has a picture', async () => {
    found = await read(client).catch(() => undefined);
    return found !== undefined;
  });
  return found;
};

/** Returns a call that the server must refuse, because nothing that the call could name is mounted or given up. */
const refused =
  (call: Call, status: number): Call =>
  async (client) => {
    assert.equal((await catchError(call(client))).status, status);
  };

/** Returns a call that first creates a silence. */
const withSilence =
  (name: string, changes: object = {}): Call =>
  async (client) => {
    const { id } = (await plain('createSilence', silence)(client)) as { id: string };
    return plain(name, { id, ...changes })(client);
  };

/** Returns a call that first creates a heartbeat. */
const withHeartbeat =
  (name: string, changes: object = {}): Call =>
  async (client) => {
    const { uuid } = (await plain('putHeartbeat', heartbeat)(client)) as { uuid: string };
    return plain(name, { ...(name.startsWith('ping') ? { address: uuid } : { name: heartbeat.name }), ...changes })(
      client,
    );
  };

const heartbeat = { name: 'backup', period: 3600, open: true };

let watches = 0;

/** Returns a call that first creates a watch. */
const withWatch =
  (name: string, isReplaced = false): Call =>
  async (client) => {
    const watch = { ...cpuWatch, name: `cpu-${watches++}` };
    await plain('createWatch', watch)(client);
    return plain(name, { ...(isReplaced && watch), watch: watch.name })(client);
  };

let users = 0;

/** Returns a call that first creates a user. */
const withUser =
  (name: string, changes: object = {}): Call =>
  async (client) => {
    const user = `user-${users++}`;
    await plain('createUser', { name: user, role: 'Reader', password: strong })(client);
    return plain(name, { user, ...changes })(client);
  };

/** Returns a call that first creates a destination. */
const withDestination =
  (name: string): Call =>
  async (client) => {
    await plain('putDestination', destination)(client);
    return plain(name, { destination: destination.destination })(client);
  };

/** Returns a call that first creates a rotation. */
const withRotation =
  (name: string, values: object = { rotation: 'ops' }): Call =>
  async (client) => {
    await plain('putRotation', rotation)(client);
    return plain(name, values)(client);
  };

/** Returns a call that first creates an escalation policy. */
const withPolicy =
  (name: string): Call =>
  async (client) => {
    await plain('putEscalationPolicy', policy)(client);
    return plain(name, { policy: policy.policy })(client);
  };

/** Returns a call that first creates a status page. */
const withPage =
  (name: string): Call =>
  async (client) => {
    await plain('putStatusPage', statusPage)(client);
    return plain(name, { page: statusPage.page })(client);
  };

/** Announces an incident on a status page. */
const announce: Call = async (client) => {
  await plain('putStatusPage', statusPage)(client);
  return withIncident('announceIncident', { page: 'main', title: 'Slow', text: 'Slow.', state: 'identified' })(client);
};

/** Returns a call that first creates a way to reach the caller. */
const withWay =
  (name: string, values: object = {}): Call =>
  async (client) => {
    await plain('putWay', way)(client);
    return plain(name, { person: way.person, way: way.way, ...values })(client);
  };

/** Returns a call that first creates a custom intake format. */
const withFormat =
  (name: string, values: object = {}): Call =>
  async (client) => {
    await plain('putIntakeFormat', intakeFormat)(client);
    return plain(name, { intakeFormat: intakeFormat.intakeFormat, ...values })(client);
  };

const intakeFormat = { intakeFormat: 'builds', message: '{/text}' };
const rotation = { rotation: 'ops', layers: [{ people: ['admin'], handover: { every: '1 week', at: 'Mon 09:00' } }] };
const policy = { policy: 'ops', steps: [{ notify: ['person:admin'], wait: '5 minutes' }] };
const way = { person: 'me', way: 'phone', type: 'webhook', url: 'http://127.0.0.1:9/hook' };
const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
const destination = { destination: 'desk', type: 'webhook', url: 'http://127.0.0.1:9/hook' };

const strong = 'a horse that staples batteries';
const credentialsOf = { Username: 'admin', Password: passwords.admin };
const silence = { match: { source: 'backup*' }, endsAt: '2090-01-01T00:00:00Z' };
const cpuWatch = { name: 'cpu', type: 'cpu', limit: 101 };
const alertmanagerSilence = {
  matchers: [{ name: 'alertname', value: 'x', isRegex: false }],
  startsAt: '2036-01-31T08:30:00Z',
  endsAt: '2090-01-01T00:00:00Z',
  createdBy: 'anna',
  comment: '',
};
const execution = { command: 'Get-CimInstance Win32_OperatingSystem -Property OSArchitecture' };

/** False for routes that only agents and Prometheus call. The client leaves them out. */
const isForClients = ({ operationId }: { operationId: string }): boolean =>
  !['enrolHost', 'reportHost', 'reportHostResult', 'getHostMetrics'].includes(operationId) &&
  !/^(readStatusPage|getKuma|getStatuspageSummary)|Subscription(Link)?$/.test(operationId);

let hosts = 0;

/** Returns a call that first creates a host. */
const withHost =
  (name: string, changes: object = {}): Call =>
  async (client) => {
    const host = `host-${hosts++}`;
    await plain('createHost', { name: host })(client);
    return plain(name, { name: host, ...changes })(client);
  };

/** One call of each method. */
const calls: Record<string, Call> = {
  ...Object.fromEntries(
    [
      ...[
        'getOpenApi',
        'getServerHealth',
        'getLivez',
        'getHealth',
        'getInfo',
        'listProcesses',
        'listDisks',
        'listTasks',
      ],
      ...['listItems', 'listAlerts', 'getReadiness', 'getReadyz', 'searchAlerts', 'countAlerts', 'listDeliveries'],
      ...[
        'listIncidents',
        'listSilences',
        'listHeartbeats',
        'listNotifications',
        'listAlertmanagerAlerts',
        'listAlertmanagerAlertGroups',
      ],
      ...['listAlertmanagerSilences', 'listAlertmanagerReceivers', 'getAlertmanagerStatus'],
      ...[
        'listCommands',
        'listExecutions',
        'listSettingChanges',
        'listBrokenSettings',
        'getMetrics',
        'getHistory',
        'getStatus',
        'listTasksAtProtected',
        'getHealthAtProtected',
      ],
      ...['listTasksAtSimple'],
    ].map((name) => [name, plain(name)]),
  ),
  createTask,
  getTask: withTask('getTask'),
  updateTask: withTask('updateTask', { Status: 'Completed' }),
  deleteTask: withTask('deleteTask'),
  createTaskAtProtected: plain('createTaskAtProtected', { Title: 'Check the backups' }),
  getTaskAtProtected: withTask('getTaskAtProtected'),
  updateTaskAtProtected: withTask('updateTaskAtProtected', { Priority: 'High' }),
  deleteTaskAtProtected: withTask('deleteTaskAtProtected'),
  createTaskAtSimple: plain('createTaskAtSimple', { title: 'Feed the cat' }),
  getTaskAtSimple: plain('getTaskAtSimple', { id: 1 }),
  createItem: plain('createItem', { name: 'label printer' }),
  login: plain('login', credentialsOf),
  // There is already an account.
  setUp: refused(plain('setUp', { code: 'none', name: 'anna', password: strong }), 403),
  // No setting is broken.
  deleteBrokenSetting: refused(plain('deleteBrokenSetting', { kind: 'watch', name: 'none' }), 404),
  listUsers: plain('listUsers'),
  createUser: plain('createUser', { name: 'anna', role: 'Reader', password: strong }),
  getUser: plain('getUser', { user: 'admin' }),
  replaceUser: withUser('replaceUser', { role: 'Admin' }),
  deleteUser: withUser('deleteUser'),
  listKeys: plain('listKeys'),
  createKey: plain('createKey', { name: 'grafana', scopes: ['alerts:write'] }),
  deleteKey: async (client) => {
    await plain('createKey', { name: 'old', scopes: ['alerts:write'] })(client);
    return plain('deleteKey', { key: 'old' })(client);
  },
  renewSession: plain('renewSession'),
  listSessions: plain('listSessions'),
  endSessions: plain('endSessions'),
  getOwnAccount: plain('getOwnAccount'),
  changeOwnPassword: refused(plain('changeOwnPassword', { currentPassword: strong, password: strong }), 409),
  loginAtProtected: plain('loginAtProtected', credentialsOf),
  createAlert: plain('createAlert', { message: 'disk is full' }),
  getAlert: async (client) => {
    const { id } = (await plain('createAlert', { message: 'disk is full' })(client)) as { id: string };
    return plain('getAlert', { id })(client);
  },
  getIncident: withIncident('getIncident'),
  listIncidentAlerts: withIncident('listIncidentAlerts'),
  getIncidentReport: withIncident('getIncidentReport'),
  getIncidentSnapshot: withPicture,
  acknowledgeIncident: withIncident('acknowledgeIncident', { comment: 'on it' }),
  resolveIncident: withIncident('resolveIncident'),
  reopenIncident: withIncident('reopenIncident'),
  takeOverIncident: withIncident('takeOverIncident'),
  addResponders: withIncident('addResponders', { people: ['admin'] }),
  commentOnIncident: withIncident('commentOnIncident', { comment: 'on it' }),
  createIncidentTask: withIncident('createIncidentTask'),
  acknowledgeIncidents: plain('acknowledgeIncidents', { ids: ['1'] }),
  resolveIncidents: plain('resolveIncidents', { ids: ['1'] }),
  listWatches: plain('listWatches'),
  testWatch: plain('testWatch', cpuWatch),
  createWatch: plain('createWatch', cpuWatch),
  getWatch: withWatch('getWatch'),
  replaceWatch: withWatch('replaceWatch', true),
  deleteWatch: withWatch('deleteWatch'),
  // The badge of the watch is not open.
  getWatchBadge: refused(withWatch('getWatchBadge'), 404),
  getWatchAvailability: withWatch('getWatchAvailability'),
  listAvailability: plain('listAvailability'),
  createSilence: plain('createSilence', silence),
  getSilence: withSilence('getSilence'),
  replaceSilence: withSilence('replaceSilence', silence),
  endSilence: withSilence('endSilence'),
  putHeartbeat: plain('putHeartbeat', heartbeat),
  getHeartbeat: withHeartbeat('getHeartbeat'),
  listHeartbeatRuns: withHeartbeat('listHeartbeatRuns'),
  getHeartbeatAvailability: withHeartbeat('getHeartbeatAvailability'),
  getHeartbeatBadge: withHeartbeat('getHeartbeatBadge'),
  pauseHeartbeat: withHeartbeat('pauseHeartbeat'),
  resumeHeartbeat: withHeartbeat('resumeHeartbeat'),
  deleteHeartbeat: withHeartbeat('deleteHeartbeat'),
  ping: withHeartbeat('ping'),
  pingWithOutput: withHeartbeat('pingWithOutput', { output: 'done' }),
  pingSignal: withHeartbeat('pingSignal', { signal: 'start' }),
  pingSignalWithOutput: withHeartbeat('pingSignalWithOutput', { signal: 'fail', output: 'failed' }),
  getOnCall: plain('getOnCall'),
  getOnCallSchedule: plain('getOnCallSchedule'),
  listDutyOverrides: plain('listDutyOverrides'),
  listRotations: plain('listRotations'),
  getRotation: withRotation('getRotation'),
  putRotation: plain('putRotation', rotation),
  getRotationCalendar: withRotation('getRotationCalendar'),
  createDutyOverride: withRotation('createDutyOverride', { rotation: 'ops', member: 'reader', endsAt: inAnHour }),
  endDutyOverride: refused(plain('endDutyOverride', { id: 'none' }), 404),
  deleteRotation: withRotation('deleteRotation'),
  escalateIncident: refused(withIncident('escalateIncident'), 409),
  listStatusPages: withPage('listStatusPages'),
  getStatusPage: withPage('getStatusPage'),
  putStatusPage: plain('putStatusPage', statusPage),
  deleteStatusPage: withPage('deleteStatusPage'),
  listSubscribers: withPage('listSubscribers'),
  removeSubscriber: refused(plain('removeSubscriber', { page: 'main', id: 'x' }), 404),
  announceIncident: announce,
  listAnnouncements: plain('listAnnouncements'),
  updateAnnouncement: async (client) => {
    const { id } = (await announce(client)) as { id: string };
    return plain('updateAnnouncement', { id, text: 'Fast.', state: 'resolved' })(client);
  },
  listEscalationPolicies: plain('listEscalationPolicies'),
  getEscalationPolicy: withPolicy('getEscalationPolicy'),
  putEscalationPolicy: plain('putEscalationPolicy', policy),
  deleteEscalationPolicy: withPolicy('deleteEscalationPolicy'),
  getEscalationRouting: plain('getEscalationRouting'),
  putEscalationRouting: plain('putEscalationRouting', { rules: [], default: null }),
  listPeople: plain('listPeople'),
  getPerson: plain('getPerson', { person: 'me' }),
  putPerson: plain('putPerson', { person: 'me', timeZone: 'Europe/Berlin' }),
  getWay: withWay('getWay'),
  putWay: plain('putWay', way),
  deleteWay: withWay('deleteWay'),
  testWay: withWay('testWay'),
  confirmWay: refused(withWay('confirmWay', { code: '0' }), 400),
  putAbsenceCalendar: plain('putAbsenceCalendar', { person: 'me', url: 'https://localhost:9/a.ics' }),
  getAbsenceCalendar: async (client) => {
    await plain('putAbsenceCalendar', { person: 'me', url: 'https://localhost:9/a.ics' })(client);
    return plain('getAbsenceCalendar', { person: 'me' })(client);
  },
  deleteAbsenceCalendar: async (client) => {
    await plain('putAbsenceCalendar', { person: 'me', url: 'https://localhost:9/a.ics' })(client);
    return plain('deleteAbsenceCalendar', { person: 'me' })(client);
  },
  listOverrideProposals: plain('listOverrideProposals'),
  acceptOverrideProposal: refused(plain('acceptOverrideProposal', { proposal: 'none' }), 404),
  declineOverrideProposal: refused(plain('declineOverrideProposal', { proposal: 'none' }), 404),
  getPersonLoad: plain('getPersonLoad', { person: 'me' }),
  readCalendar: refused(plain('readCalendar', { file: 'none.ics' }), 404),
  listPersonCalendarAddresses: plain('listPersonCalendarAddresses', { person: 'me' }),
  createPersonCalendarAddress: plain('createPersonCalendarAddress', { person: 'me' }),
  deletePersonCalendarAddress: async (client) => {
    const created = await plain('createPersonCalendarAddress', { person: 'me' })(client);
    return plain('deletePersonCalendarAddress', { person: 'me', address: (created as { id: string }).id })(client);
  },
  listRotationCalendarAddresses: withRotation('listRotationCalendarAddresses'),
  createRotationCalendarAddress: withRotation('createRotationCalendarAddress'),
  deleteRotationCalendarAddress: async (client) => {
    const created = await withRotation('createRotationCalendarAddress')(client);
    const { id } = created as { id: string };
    return plain('deleteRotationCalendarAddress', { rotation: 'ops', address: id })(client);
  },
  postAlertmanagerSilence: plain('postAlertmanagerSilence', alertmanagerSilence),
  getAlertmanagerSilence: withSilence('getAlertmanagerSilence'),
  expireAlertmanagerSilence: withSilence('expireAlertmanagerSilence'),
  createAlertsFromAlertmanager: plain('createAlertsFromAlertmanager', samples.alertmanager),
  createAlertsFromPrometheus: plain('createAlertsFromPrometheus', samples.prometheus),
  pushAlerts: plain('pushAlerts', samples.prometheus),
  pushLogs: plain('pushLogs', samples.otlp),
  createAlertsFromGrafana: plain('createAlertsFromGrafana', samples.grafana),
  createAlertsFromUptimeKuma: plain('createAlertsFromUptimeKuma', samples['uptime-kuma']),
  createAlertsFromCloudevents: plain('createAlertsFromCloudevents', samples.cloudevents),
  createAlertsFromSlack: plain('createAlertsFromSlack', samples.slack),
  createAlertsFromPagerduty: plain('createAlertsFromPagerduty', samples.pagerduty),
  createAlertsFromOtlp: plain('createAlertsFromOtlp', samples.otlp),
  createAlertsFromCustom: withFormat('createAlertsFromCustom', { text: 'It failed' }),
  listIntakeFormats: plain('listIntakeFormats'),
  getIntakeFormat: withFormat('getIntakeFormat'),
  putIntakeFormat: plain('putIntakeFormat', intakeFormat),
  deleteIntakeFormat: withFormat('deleteIntakeFormat'),
  testIntakeFormat: withFormat('testIntakeFormat', { body: { text: 'It failed' } }),
  createAlertsFromAny: plain('createAlertsFromAny', samples.grafana),
  retryDestination: refused(plain('retryDestination', { destination: 'pager' }), 404),
  retryDelivery: refused(plain('retryDelivery', { destination: 'pager', id: 'none' }), 404),
  listDestinations: plain('listDestinations'),
  getDestination: withDestination('getDestination'),
  putDestination: plain('putDestination', destination),
  deleteDestination: withDestination('deleteDestination'),
  testDestination: refused(plain('testDestination', { destination: 'pager' }), 404),
  readAcknowledgeLink: refused(plain('readAcknowledgeLink', { token: 'none' }), 404),
  useAcknowledgeLink: refused(plain('useAcknowledgeLink', { token: 'none' }), 404),
  runCommand: plain('runCommand', execution),
  runHostCommand: refused(withHost('runHostCommand', execution), 409),
  listHosts: plain('listHosts'),
  createHost: plain('createHost', { name: 'web-1' }),
  getHost: withHost('getHost'),
  changeHost: withHost('changeHost', { note: 'rack 4' }),
  deleteHost: withHost('deleteHost'),
  getHostHistory: withHost('getHostHistory'),
  getHostAvailability: withHost('getHostAvailability'),
  listHostProcesses: withHost('listHostProcesses'),
  streamEvents: async ({ streamEvents }) => {
    const [event] = await take(streamEvents({ topics: ['host'] }), 1);
    assert.equal(event?.topic, 'host');
  },
  getAbout: plain('getAbout'),
  listLicences: plain('listLicences'),
  previewSchedule: plain('previewSchedule', { schedule: '0 2 * * 6' }),
  // The route exists only on instances that share a database.
  listInstances: refused(plain('listInstances'), 404),
};

const isRefused = [
  ...[
    'retryDelivery',
    'retryDestination',
    'testDestination',
    'readAcknowledgeLink',
    'useAcknowledgeLink',
    'removeSubscriber',
    'readCalendar',
    'escalateIncident',
    'confirmWay',
    'acceptOverrideProposal',
    'declineOverrideProposal',
  ],
  ...['runHostCommand', 'endDutyOverride', 'setUp', 'changeOwnPassword', 'deleteBrokenSetting'],
];

test('the client has a method for each route that takes JSON, and each returns a response of the right shape', async (t) => {
  const app = await startApp(t);
  const operations = Object.values(await readOperations(app))
    .filter(takesJson)
    .filter(isForClients);
  const ids = operations.map(({ operationId }) => operationId);
  assert.deepEqual(Object.keys(calls).sort(), [...ids, 'listInstances'].sort());
  const client = createClient(app.url, { credentials });
  for (const { operationId, responses } of operations) {
    const result = await calls[operationId]?.(client);
    const response = responses['200'] ?? responses['201'] ?? responses['202'];
    const isJson = response?.content && 'application/json' in response.content;
    if (operationId === 'getMetrics') assert.match(result as string, /^signalbox_build_info\{/m);
    const schema = isJson && !isRefused.includes(operationId) && toJsonSchema(response);
    if (schema) assert.deepEqual([...Value.Errors(schema, result)], [], operationId);
  }
});

test('availability that is requested as CSV is text', async (t) => {
  const settings = { watches: [{ name: 'disk', type: 'disk', limit: 90 }] };
  const { call, withResponse } = createClient((await startApp(t, { settings })).url, { credentials });
  const list = await call('listAvailability', { format: 'csv' });
  assert.match(list as unknown as string, /^kind,name,state,since,/);
  const { data } = await withResponse('getWatchAvailability', { watch: 'disk', format: 'csv', list: 'outages' });
  assert.match(data as unknown as string, /^startsAt,endsAt,seconds,/);
});

test('the method of a route that only shared stores have calls this route', async (t) => {
  const { url } = await startApp(t, { settings: withDatabase });
  const { call } = createClient(url, { credentials, retries: 0 });
  const error = await catchError(call('listInstances'));
  assert.equal(error.status, 503);
});

test('each route has its types, with its summary', async (t) => {
  const operations = Object.values(await readOperations(await startApp(t)))
    .filter(takesJson)
    .filter(isForClients);
  const types = readFileSync(typesPath, 'utf8');
  for (const { operationId, summary } of operations) {
    if (operationId !== 'streamEvents')
      assert.ok(types.includes(`/** ${summary}. */\n    ${operationId}: {`), operationId);
  }
});

test('calls to a profile use its mount', async (t) => {
  const mounts = { '/todo': ['simple-tasks'], '/ops': ['tasks', 'login', 'items'] };
  const { url } = await startApp(t, { settings: { mounts } });
  const places = { 'simple-tasks': '/todo', tasks: '/ops/', login: '/ops', items: '/ops' };
  const client = createClient(url, { credentials, mounts: places });
  await createTask(client);
  assert.equal(((await plain('listTasks')(client)) as { total: number }).total, 1);
  assert.equal(((await plain('listItems')(client)) as { page: number }).page, 1);
  assert.ok(Array.isArray(await plain('listTasksAtSimple')(client)));
});
