import assert from 'node:assert/strict';
import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { createFolder } from '../support/folder.ts';
import { runCommand } from '../support/program.ts';
import { startReceiver } from '../support/receiver.ts';
import { fixtures } from '../upgrade/support/fixture.ts';

const programs = ['grafana-oncall', 'opsgenie', 'pagerduty', 'goalert'] as const;
type Program = (typeof programs)[number];

/** Replaces the year in the overrides of the fixtures, because the server accepts only times in the next few years. */
const nextYear = `${new Date().getUTCFullYear() + 1}`;

const readFixture = (program: Program): string =>
  readFileSync(join(fixtures, 'oncall', `${program}.json`), 'utf8').replaceAll('2099', nextYear);

/** Writes a fixture to a file. */
const toFile = (t: TestContext, program: Program): string => {
  const path = join(createFolder(t), `${program}.json`);
  writeFileSync(path, readFixture(program));
  return path;
};

const start = async (t: TestContext, settings: object = {}) => {
  const app = await startApp(t, { settings });
  const token = await app.login('admin');
  const variables = { SIGNALBOX_URL: app.url, SIGNALBOX_KEY: token };
  const run = (args: string[], more: Record<string, string> = {}) =>
    runCommand(['import-oncall', ...args], { variables: { ...variables, ...more } });
  const read = async <T = Record<string, unknown>>(path: string) => (await app.request<T>('GET', path, { token })).json;
  return { app, run, read };
};

interface Expected {
  plan: RegExp[];
  rotation: string;
  layers: object[];
  policy: string;
  steps: object[];
  repeat: number;
  overrides: string[];
}

const expected: Record<Program, Expected> = {
  'grafana-oncall': {
    plan: [
      /^create user anna: anna@example\.org$/m,
      /^skip contact method anna\/mail: no destination of type email provides a mail server$/m,
      /^not imported: schedule Demo schedule iCal: calendars are not supported$/m,
      /^not imported: schedule Demo schedule Calendar, shift First of the month: frequency monthly is not supported$/m,
      /^not imported: policy default: steps of type trigger_webhook are not supported$/m,
    ],
    rotation: 'Demo-schedule-Calendar',
    layers: [
      { people: ['ben', 'anna'], handover: { every: '1 week', at: 'Mon 09:00' }, from: '2020-01-06T14:00:00.000Z' },
      {
        people: ['carl'],
        handover: { every: '1 week', at: 'Mon 16:00' },
        from: '2020-09-07T20:00:00.000Z',
        hours: 'Mon, Wed, Fri 16:00-19:00',
      },
    ],
    policy: 'default',
    steps: [
      { notify: ['rotation:Demo-schedule-Calendar'], wait: '5 minutes' },
      { notify: ['person:ben'], wait: '5 minutes' },
    ],
    repeat: 0,
    overrides: ['ben 2099-09-10T12:00:00.000Z'],
  },
  opsgenie: {
    plan: [
      /^not imported: rotation ops_team_schedule Team: participant rocket_team is not in the list of users$/m,
      /^not imported: policy ops-escalation: team Operations cannot be notified$/m,
    ],
    rotation: 'ops_team_schedule-First-Rotation',
    layers: [
      {
        people: ['anna', 'ben'],
        handover: { every: '1 week', at: 'Mon 09:00' },
        from: '2026-01-05T08:00:00.000Z',
        hours: 'Mon 00:00-08:30, Fri 18:00-24:00, Sat, Sun 00:00-24:00',
      },
    ],
    policy: 'ops-escalation',
    steps: [
      {
        notify: ['rotation:ops_team_schedule-First-Rotation', 'rotation:ops_team_schedule-Days'],
        wait: '10 minutes',
      },
      { notify: ['person:anna'], wait: '15 minutes' },
    ],
    repeat: 2,
    overrides: ['ben 2099-05-05T18:00:00.000Z'],
  },
  pagerduty: {
    plan: [/^create override Daily-Engineering-Rotation: anna from \d{4}-06-30T22:00:00\.000Z until /m],
    rotation: 'Daily-Engineering-Rotation',
    layers: [
      { people: ['anna', 'ben'], handover: { every: '1 week', at: 'Mon 09:00' }, from: '2026-01-05T08:00:00.000Z' },
      {
        people: ['ben'],
        handover: { every: '1 day', at: '19:00' },
        from: '2026-01-05T18:00:00.000Z',
        hours: 'Mon, Tue, Wed, Thu, Fri, Sat, Sun 00:00-08:00, Mon, Tue, Wed, Thu, Fri, Sat, Sun 20:00-24:00',
      },
    ],
    policy: 'Engineering-Escalation-Policy',
    steps: [
      { notify: ['rotation:Daily-Engineering-Rotation'], wait: '30 minutes' },
      { notify: ['person:anna'], wait: '15 minutes' },
    ],
    repeat: 1,
    overrides: ['anna 2099-06-30T22:00:00.000Z'],
  },
  goalert: {
    plan: [
      /^create user ben\.example: Ben Example$/m,
      /^not imported: rotation Monthly: type monthly is not supported$/m,
      /^not imported: policy Standard: slackChannel #ops cannot be notified$/m,
    ],
    rotation: 'Ops-Primary-Rotation',
    layers: [],
    policy: 'Standard',
    steps: [
      { notify: ['rotation:Ops-Primary-Rotation'], wait: '5 minutes' },
      { notify: ['person:ben.example'], wait: '10 minutes' },
    ],
    repeat: 3,
    overrides: ['ben.example 2099-05-05T18:00:00.000Z'],
  },
};

for (const program of programs) {
  test(`an import from ${program} is planned and applied, and a second import changes nothing`, async (t) => {
    const { run, read } = await start(t);
    const { plan, rotation, layers, policy, steps, repeat, overrides } = expected[program];
    const args = ['--from', program, toFile(t, program)];
    const planned = await run([...args, '--plan']);
    assert.deepEqual([planned.code, planned.stderr], [0, ''], planned.stdout);
    for (const line of plan) assert.match(planned.stdout, line);
    assert.match(planned.stdout, /\nNothing has changed\. Apply the plan with --apply\.\n$/);
    assert.equal((await read('/api/rotations'))['count'], 0);
    assert.equal((await read('/api/users'))['count'], 2);
    const applied = await run([...args, '--apply']);
    assert.deepEqual([applied.code, applied.stderr], [0, ''], applied.stdout);
    assert.match(applied.stdout, /^Initial password of anna: [\w-]{20}$/m);
    const imported = await read<{ layers: object[] }>(`/api/rotations/${rotation}`);
    if (layers.length > 0) assert.deepEqual(imported.layers, layers);
    const stored = await read<{ steps: object[]; repeat: number }>(`/api/escalation-policies/${policy}`);
    assert.deepEqual([stored.steps, stored.repeat], [steps, repeat]);
    const { data } = await read<{ data: { member: string; startsAt: string }[] }>('/api/oncall/overrides');
    assert.deepEqual(
      data.map(({ member, startsAt }) => `${member} ${startsAt}`),
      overrides.map((each) => each.replace('2099', nextYear)),
    );
    const again = await run([...args, '--apply']);
    assert.match(again.stdout, /^0 of 0 changes applied\.$/m);
    assert.doesNotMatch(again.stdout, /^(create|replace) /m);
  });
}

test('a person who is on call in GoAlert now is on call after the import', async (t) => {
  const { run, read } = await start(t);
  assert.equal((await run(['--from', 'goalert', toFile(t, 'goalert'), '--apply'])).code, 0);
  const { data } = await read<{ data: { rotation: string; member: string }[] }>('/api/oncall');
  assert.equal(data.find(({ rotation }) => rotation === 'Primary-Rotation')?.member, 'anna');
});

test('email addresses become contact methods where a mail server exists, and rotations of the config file stay', async (t) => {
  const mail = { name: 'mail', type: 'email', url: 'smtp://127.0.0.1:9', from: 'a@example.org', to: ['b@example.org'] };
  const layers = [{ people: ['admin'], handover: { every: '1 week' } }];
  const rotations = [{ name: 'Daily-Engineering-Rotation', layers }];
  const { run, read } = await start(t, { destinations: [mail], rotations });
  const { stdout, code } = await run(['--from', 'pagerduty', toFile(t, 'pagerduty'), '--apply']);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /^create contact method anna\/mail: anna@example\.org$/m);
  assert.match(stdout, /^skip rotation Daily-Engineering-Rotation: defined in the config file; edit it there$/m);
  const { ways } = await read<{ ways: { settings: { to: string[] } }[] }>('/api/people/anna');
  assert.deepEqual(ways[0]?.settings.to, ['anna@example.org']);
});

type Api = Parameters<typeof startReceiver>[1];

const send = (response: Parameters<NonNullable<Api>>[0], content: object | undefined): void => {
  response.writeHead(content ? 200 : 404).end(JSON.stringify(content ?? {}));
};

/** Servers that respond like the other programs' APIs, with data from the fixtures. */
const apis: Record<Program, (fixture: Record<string, Record<string, unknown>>) => NonNullable<Api>> = {
  opsgenie:
    (fixture) =>
    (response, { path }) => {
      const [, list = '', more] = /^\/v2\/(\w+)(\/.+\/overrides)?/.exec(path) ?? [];
      send(response, (more ? fixture['overrides']?.['d875e654'] : fixture[list]) as object);
    },
  'grafana-oncall':
    (fixture) =>
    (response, { path }) => {
      send(response, fixture[/^\/api\/v1\/(\w+)\/\?/.exec(path)?.[1] ?? '']);
    },
  // Lists have one entry per page. Schedules in lists have no layers.
  pagerduty:
    ({ overrides, ...lists }) =>
    (response, { path, headers }) => {
      assert.equal(headers.accept, 'application/vnd.pagerduty+json;version=2');
      const url = new URL(path, 'http://pagerduty');
      const [, list = '', id, part] = url.pathname.split('/');
      const all = (lists[list] ?? []) as unknown as { id: string; name: string }[];
      if (part !== undefined)
        return send(response, url.searchParams.has('since') ? (overrides?.[id ?? ''] as object) : undefined);
      if (id !== undefined) return send(response, { schedule: all.find((each) => each.id === id) });
      const offset = Number(url.searchParams.get('offset')) / 100;
      const page = all.slice(offset, offset + 1);
      const shown = list === 'schedules' ? page.map(({ id: one, name }) => ({ id: one, name })) : page;
      send(response, { [list]: shown, limit: 100, offset, more: offset + 1 < all.length });
    },
  // Lists have one entry per page, and pages of at most 149 entries can be requested.
  goalert:
    ({ data = {} }) =>
    (response, { path, body }) => {
      assert.equal(path, '/api/graphql');
      const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, string> };
      const asked = [...query.matchAll(/(\w+)\(input: \{first: (\d+), after: \$(\w+)\}\)/g)];
      const pages = asked.map(([, list = '', first, variable = '']) => {
        assert.ok(Number(first) < 150);
        const { nodes } = data[list] as { nodes: unknown[] };
        const from = Number(variables[variable] ?? 0);
        const end = Math.min(from + 1, nodes.length);
        return [
          list,
          {
            nodes: nodes.slice(from, end),
            pageInfo: { hasNextPage: end < nodes.length, endCursor: end > from ? `${end}` : null },
          },
        ];
      });
      send(response, { data: Object.fromEntries(pages) });
    },
};

test('an import from an address sends the key of the other program only to that server', async (t) => {
  const { run } = await start(t);
  const variables = { SIGNALBOX_IMPORT_KEY: 'other-key' };
  for (const [program, header, requests] of [
    ['opsgenie', 'GenieKey other-key', 4],
    ['grafana-oncall', 'other-key', 5],
    ['pagerduty', 'Token token=other-key', 6],
    ['goalert', 'Bearer other-key', 2],
  ] as const) {
    const api = await startReceiver(t, apis[program](JSON.parse(readFixture(program))));
    const { stdout, stderr, code } = await run(['--from', program, api.url], variables);
    const fromFile = await run(['--from', program, toFile(t, program)]);
    assert.deepEqual([code, stderr, stdout], [0, '', fromFile.stdout]);
    assert.equal(api.requests.length, requests, program);
    assert.ok(api.requests.every(({ headers }) => headers.authorization === header));
  }
  const other = await startReceiver(t);
  const evil = await startReceiver(t, (response) =>
    response.end(JSON.stringify({ data: [], paging: { next: `${other.url}/v2/users` } })),
  );
  const stolen = await run(['--from', 'opsgenie', evil.url], variables);
  assert.deepEqual([stolen.code, other.requests.length], [1, 0]);
  assert.match(stolen.stderr, /^signalbox: .*: the next page is on another server: http:\/\/127\.0\.0\.1:\d+\n$/);
  const moved = await startReceiver(t, (response) => response.writeHead(302, { location: other.url }).end());
  assert.equal((await run(['--from', 'opsgenie', moved.url], variables)).code, 1);
  assert.equal(other.requests.length, 0);
  const endless = await startReceiver(t, (response) => {
    response.end(JSON.stringify({ data: [], paging: { next: '/v2/users' } }));
  });
  assert.match((await run(['--from', 'opsgenie', endless.url], variables)).stderr, /more than 500 pages/);
  assert.match((await run(['--from', 'opsgenie', other.url])).stderr, /set SIGNALBOX_IMPORT_KEY to a key/);
});

test('damaged, huge and hostile exports give one clear line, and change nothing', async (t) => {
  const { run, read } = await start(t);
  const folder = createFolder(t);
  const write = (content: unknown): string => {
    const path = join(folder, 'export.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const schedule = { id: 'S', name: 'x', time_zone: 'UTC', schedule_layers: [] };
  const layer = {
    users: [],
    rotation_virtual_start: '2026-01-05T08:00:00Z',
    rotation_turn_length_seconds: 3600,
    restrictions: [],
  };
  for (const [content, problem] of [
    ['{"users": [', /the file is not JSON$/],
    ['[]', / must be an object$/],
    [{ users: {} }, /users must be a list$/],
    [{ users: [1] }, /users\[0\] must be an object$/],
    [{ users: [{ id: 'a' }] }, /users\[0\]\.name must be a string$/],
    [{ users: [{ id: 'a', name: 'x'.repeat(2000) }] }, /users\[0\]\.name must be a string of at most 1000 characters$/],
    [{ users: Array(20_000).fill({}) }, /users must be a list of at most 10000 entries$/],
  ] as const) {
    const { code, stdout, stderr } = await run(['--from', 'pagerduty', write(content), '--apply']);
    assert.deepEqual([code, stdout, stderr.split('\n').length], [1, '', 2], stderr);
    assert.match(stderr.trimEnd(), problem);
  }
  const huge = write('');
  truncateSync(huge, 40 * 1024 * 1024);
  assert.match((await run(['--from', 'goalert', huge])).stderr, /the file is larger than 32 MiB\n$/);
  assert.match((await run(['--from', 'goalert', join(folder, 'none')])).stderr, /no such file or directory\n$/);
  assert.match((await run(['--from', 'goalert', folder])).stderr, /directory\n$/);
  const firstPage = write({ data: { users: { nodes: [], pageInfo: { hasNextPage: true } } } });
  assert.match(
    (await run(['--from', 'goalert', firstPage, '--apply'])).stderr,
    /the export has only the first page of users: pass the URL of GoAlert instead\n$/,
  );
  const hostile = {
    users: [{ id: '__proto__', name: '\u001b[2Jconstructor', email: '__proto__' }],
    schedules: [
      { ...schedule, name: '../../x', schedule_layers: [{ ...layer, rotation_turn_length_seconds: 1e300 }] },
      { ...schedule, name: 'time', schedule_layers: [{ ...layer, rotation_virtual_start: 'soon' }] },
      { ...schedule, name: 'zone', time_zone: 'Mars/Base' },
      {
        ...schedule,
        name: 'last',
        time_zone: 'Pacific/Auckland',
        schedule_layers: [{ ...layer, rotation_virtual_start: '+275760-09-13T00:00:00Z' }],
      },
    ],
    escalation_policies: [{ id: 'p', name: 'stop', escalation_rules: [{ targets: [{ id: '__proto__' }] }] }],
  };
  const { code, stdout } = await run(['--from', 'pagerduty', write(hostile)]);
  assert.equal(code, 0);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the terminal must not get them
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f]/);
  assert.match(stdout, /^create policy stop-2: person:/m);
  assert.match(stdout, /^not imported: schedule zone: "Mars\/Base" is not a time zone$/m);
  assert.match(stdout, /^not imported: schedule time: .*rotation_virtual_start must be a time$/m);
  assert.match(stdout, /^not imported: schedule last: .*rotation_virtual_start must be a time$/m);
  assert.equal((await read('/api/users'))['count'], 2);
});

test('an import that replaces a rotation keeps its holidays', async (t) => {
  const { app, run, read } = await start(t);
  const path = '/api/rotations/Daily-Engineering-Rotation';
  const args = ['--from', 'pagerduty', toFile(t, 'pagerduty'), '--apply'];
  assert.equal((await run(args)).code, 0);
  const { layers } = await read<{ layers: { people: string[] }[] }>(path);
  const [first] = layers;
  const body = { timeZone: 'UTC', layers: [first], holidays: ['2036-12-25'] };
  const { status } = await app.request('PUT', path, { body, token: await app.login('admin') });
  assert.equal(status, 200);
  assert.match((await run(args)).stdout, /^replace rotation Daily-Engineering-Rotation/m);
  const { holidays, ...rotation } = await read<{ holidays: string[]; layers: object[] }>(path);
  assert.deepEqual([holidays, rotation.layers], [['2036-12-25'], layers]);
});

test('a Reader cannot import', async (t) => {
  const { app, run } = await start(t);
  const { code, stderr } = await run(['--from', 'opsgenie', toFile(t, 'opsgenie'), '--apply'], {
    SIGNALBOX_KEY: await app.login('reader'),
  });
  assert.equal(code, 1);
  assert.match(stderr, /responded 403/);
});

test('a person of an export who has the name of a user gets no contact method at that user', async (t) => {
  const mail = { name: 'mail', type: 'email', url: 'smtp://127.0.0.1:9', from: 'a@example.org', to: ['b@example.org'] };
  const { run, read } = await start(t, { destinations: [mail] });
  const path = join(createFolder(t), 'export.json');
  writeFileSync(path, JSON.stringify({ users: [{ id: 'U', name: 'x', email: 'admin@attacker.example' }] }));
  const { stdout, code } = await run(['--from', 'pagerduty', path, '--apply']);
  assert.equal(code, 0);
  assert.match(stdout, /^skip contact method admin\/mail: admin@attacker\.example: admin must add this address$/m);
  assert.deepEqual((await read<{ ways: object[] }>('/api/people/admin')).ways, []);
});

test('a GoAlert key for another query is refused, and the message shows the query that the key needs', async (t) => {
  const { run } = await start(t);
  const api = await startReceiver(t, (response) =>
    send(response, { errors: [{ message: 'wrong query for API key' }] }),
  );
  const { code, stderr } = await run(['--from', 'goalert', api.url], { SIGNALBOX_IMPORT_KEY: 'key' });
  assert.equal(code, 1);
  const { query } = JSON.parse(api.requests[0]?.body ?? '') as { query: string };
  assert.ok(
    stderr.endsWith(
      `the server refused the query: wrong query for API key; create a GraphQL API key in GoAlert for this query: ${query}\n`,
    ),
    stderr,
  );
  const withoutKey = await run(['--from', 'goalert', api.url]);
  assert.equal(withoutKey.code, 2);
  assert.ok(withoutKey.stderr.includes(`create a GraphQL API key in GoAlert for this query: ${query}`), stderr);
});

test('imported policies leave out rotations that have too many layers', async (t) => {
  const { run, read } = await start(t);
  const path = join(createFolder(t), 'export.json');
  const layer = {
    users: [{ user: { id: 'A' } }],
    rotation_virtual_start: '2026-01-05T08:00:00Z',
    rotation_turn_length_seconds: 86_400,
    restrictions: [],
  };
  const schedule = { id: 'S', name: 'many', time_zone: 'UTC', schedule_layers: Array(17).fill(layer) };
  const targets = [{ id: 'S', summary: 'many' }, { id: 'A' }];
  writeFileSync(
    path,
    JSON.stringify({
      users: [{ id: 'A', name: 'anna' }],
      schedules: [schedule],
      escalation_policies: [{ id: 'P', name: 'ops', escalation_rules: [{ targets }] }],
    }),
  );
  const { code, stdout, stderr } = await run(['--from', 'pagerduty', path, '--apply']);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  assert.match(stdout, /^not imported: schedule many: there are more than 16 layers$/m);
  assert.match(stdout, /^not imported: policy ops: many cannot be notified$/m);
  const { steps } = await read<{ steps: object[] }>('/api/escalation-policies/ops');
  assert.deepEqual(steps, [{ notify: ['person:anna'], wait: '5 minutes' }]);
});

test('layers that have ended or end after 2059 do not cost a rotation its other layers', async (t) => {
  const { run, read } = await start(t);
  const path = join(createFolder(t), 'export.json');
  const layer = {
    users: [{ user: { id: 'A' } }],
    start: '2017-01-01T00:00:00Z',
    rotation_virtual_start: '2017-01-02T08:00:00Z',
    rotation_turn_length_seconds: 86_400,
    restrictions: [],
  };
  const ended = { ...layer, end: '2019-05-01T08:00:00Z' };
  const schedule = { id: 'S', name: 'mixed', time_zone: 'UTC' };
  const policy = (id: string) => ({ id, name: `of ${id}`, escalation_rules: [{ targets: [{ id }, { id: 'A' }] }] });
  writeFileSync(
    path,
    JSON.stringify({
      users: [{ id: 'A', name: 'anna' }],
      schedules: [
        {
          ...schedule,
          schedule_layers: [
            { ...layer, end: '9999-12-31T00:00:00Z' },
            { ...layer, end: '2026-02-01T08:00:00Z' },
            { ...layer, rotation_virtual_start: '2070-01-01T08:00:00Z' },
            ended,
          ],
        },
        { ...schedule, id: 'T', name: 'over', schedule_layers: [ended] },
      ],
      escalation_policies: [policy('S'), policy('T')],
    }),
  );
  const { code, stdout, stderr } = await run(['--from', 'pagerduty', path, '--apply']);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  for (const line of [
    /^not imported: schedule mixed: a layer that ended at 2019-05-01T08:00:00\.000Z$/m,
    /^not imported: schedule mixed: a layer that ended at 2026-02-01T08:00:00\.000Z$/m,
    /^not imported: schedule mixed: a layer that starts at 2070-01-01T08:00:00\.000Z, after 2059$/m,
    /^not imported: schedule over: nobody would be on call, because it has no recurring shifts that can be imported$/m,
  ]) {
    assert.match(stdout, line);
  }
  const { data } = (await read('/api/rotations')) as { data: { name: string; layers: object[] }[] };
  const [rotation, ...others] = data;
  assert.deepEqual(others, []);
  assert.equal(rotation?.name, 'mixed');
  assert.deepEqual(rotation?.layers, [
    { people: ['anna'], handover: { every: '1 day', at: '08:00' }, from: '2020-01-06T08:00:00.000Z' },
  ]);
});

test('shifts and overrides of a web schedule of Grafana OnCall are in UTC', async (t) => {
  const { run, read } = await start(t);
  const path = join(createFolder(t), 'export.json');
  const lists = {
    users: [{ id: 'A', username: 'anna' }],
    schedules: [
      { id: 'S', name: 'web', type: 'web', time_zone: 'America/New_York', shifts: ['R', 'O', 'N'] },
      { id: 'T', name: 'single', type: 'web', shifts: ['O'] },
    ],
    on_call_shifts: [
      {
        id: 'R',
        type: 'rolling_users',
        start: '2026-01-05T09:00:00',
        until: `${nextYear}-06-01T00:00:00`,
        duration: 604_800,
        frequency: 'weekly',
        rolling_users: [['A']],
      },
      { id: 'O', type: 'override', start: `${nextYear}-03-01T08:00:00`, duration: 3600, users: ['A'] },
      { id: 'N', type: 'override', start: `${nextYear}-03-02T08:00:00`, duration: 3600, users: [] },
    ],
  };
  const pages = Object.entries(lists).map(([list, results]) => [list, { results }]);
  writeFileSync(path, JSON.stringify(Object.fromEntries(pages)));
  const { code, stdout, stderr } = await run(['--from', 'grafana-oncall', path, '--apply']);
  assert.deepEqual([code, stderr], [0, ''], stdout);
  assert.match(stdout, /^not imported: schedule web, shift N: the export does not say who is on call$/m);
  assert.match(stdout, /^not imported: schedule single: nobody would be on call, because it has no recurring shifts/m);
  const { timeZone, layers } = await read<{ timeZone: string; layers: object[] }>('/api/rotations/web');
  assert.deepEqual(
    [timeZone, layers],
    [
      'UTC',
      [
        {
          people: ['anna'],
          handover: { every: '1 week', at: 'Mon 09:00' },
          from: '2026-01-05T09:00:00.000Z',
          until: `${nextYear}-06-01T00:00:00.000Z`,
        },
      ],
    ],
  );
  const { data } = await read<{ data: { startsAt: string }[] }>('/api/oncall/overrides');
  assert.deepEqual(
    data.map(({ startsAt }) => startsAt),
    [`${nextYear}-03-01T08:00:00.000Z`],
  );
});
