import Type, { type Static } from 'typebox';
import { SettingsError } from '../../config/settings-error.ts';
import { defineTransfer, type Transfer } from '../../kit/feature.ts';
import { HostProcess, HostReport } from '../../kit/host-report/report-schema.ts';
import { nullable } from '../../kit/shape.ts';
import { Milliseconds } from '../../kit/time.ts';
import type { PortableFolder } from '../../storage/portable-store.ts';
import { toColumns } from '../../storage/postgres/batch.ts';
import type { Row } from '../../storage/postgres/connection.ts';
import { rowLength, toPlainValues, toRowValues } from './columns.ts';
import { HostFiles, headBytes, rowBytes } from './host-file.ts';
import { type HostState, maxStateBytes } from './host-state.ts';
import { toRowColumns } from './host-table.ts';
import { hostNamePattern } from './kind.ts';
import { align, findRing, type RingRow, rings } from './rings.ts';

const HostName = Type.String({ pattern: hostNamePattern, description: 'The name of a host' });
const { kept: _, processes: __, time: ___, ...reported } = HostReport.properties;

const ExportedState = Type.Object(
  {
    name: HostName,
    at: Milliseconds,
    skewMs: Type.Number(),
    report: Type.Object(reported),
    processes: nullable(Type.Object({ at: Milliseconds, data: Type.Array(HostProcess) })),
    stoppedAt: nullable(Milliseconds),
    upSince: Type.Optional(Milliseconds),
    lastSilence: nullable(Type.Object({ from: Milliseconds, until: Milliseconds })),
    machines: Type.Array(
      Type.Object({
        id: Type.String(),
        hostname: Type.String(),
        at: Milliseconds,
        hasReturned: Type.Optional(Type.Literal(true)),
      }),
    ),
    disks: Type.Array(Type.Object({ mountPath: Type.String(), since: Type.Number(), seenAt: Type.Number() })),
    line: Type.Array(nullable(Type.Number())),
    /** Unix time. */
    lineAt: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }),
    isHub: Type.Boolean(),
  },
  { additionalProperties: false },
);

const ExportedRow = Type.Object(
  {
    host: HostName,
    step: Type.Enum(rings.map(({ step }) => step)),
    /** Unix time at which the step begins. */
    time: Type.Integer({ minimum: 0, maximum: 0xffff_ffff }),
    values: Type.Array(nullable(Type.Number()), { minItems: rowLength, maxItems: rowLength }),
  },
  { additionalProperties: false },
);

type Change = { state: HostState } | { host: string; row: RingRow };

/** Selects the rows of all hosts in the order of the export. Reads one ring at a time through the primary key. */
const selectRows = `SELECT known.name AS host, ring.step, kept.at, kept.body
  FROM signalbox.host AS known
  CROSS JOIN (VALUES ${rings.map(({ step, size }) => `(${step}, ${size})`)}) AS ring (step, size)
  CROSS JOIN LATERAL (
    SELECT at, body FROM signalbox.host_row WHERE host = known.name AND step = ring.step
      AND at BETWEEN (known.at / 1000 / ring.step - ring.size + 1) * ring.step AND known.at / 1000
  ) AS kept
  ORDER BY known.name COLLATE "C", ring.step, kept.at`;

const createHostTransfer = (hasReadings: boolean): Transfer<Change> => ({
  name: 'hosts',
  lines: { hosts: ExportedState, hostReadings: ExportedRow },
  openFolder: (path) => openHostFolder(new HostFiles(path), hasReadings),
  table: {
    name: 'host',
    // Hosts need no gate of their own, because they are imported with their settings.
    gate: 'projection',
    queries: [
      {
        text: 'SELECT body FROM signalbox.host ORDER BY name COLLATE "C"',
        toChange: ({ body }) => ({ state: JSON.parse(body) }),
      },
      ...(hasReadings
        ? [
            {
              text: selectRows,
              toChange: ({ host, step, at, body }: Row) => ({
                host,
                row: { step, time: Number(at), values: toRowValues(JSON.parse(body)) },
              }),
            },
          ]
        : []),
    ],
    insert: (changes) => {
      const { states, rows } = divide(changes);
      const stored = states.map((state) => ({ ...state, body: JSON.stringify(state) }));
      return [
        {
          text: `INSERT INTO signalbox.host (name, at, body)
            SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])`,
          values: toColumns(stored, 'name', 'at', 'body'),
        },
        {
          text: `INSERT INTO signalbox.host_row (host, step, slot, at, body)
            SELECT * FROM unnest($1::text[], $2::int[], $3::int[], $4::bigint[], $5::text[])`,
          values: [rows.map(({ host }) => host), ...toRowColumns(rows.map(({ row }) => row))],
        },
      ];
    },
  },
  toLine: (change) => {
    if ('state' in change) return ['hosts', change.state];
    const { step, time, values } = change.row;
    return ['hostReadings', { host: change.host, step, time, values: toPlainValues(values) }];
  },
  createParser: () => {
    const now = Date.now();
    const names = new Set<string>();
    /** Times of the first and last row, by host and step. */
    const spans = new Map<string, { first: number; last: number }>();
    return (key, value) => {
      if (key === 'hosts') {
        const state = limitToPast(value as HostState, now);
        if (names.has(state.name)) throw new SettingsError(['hosts.name was already used in an earlier line']);
        names.add(state.name);
        if (Buffer.byteLength(JSON.stringify(state)) > maxStateBytes)
          throw new SettingsError([`hosts must not exceed ${maxStateBytes} bytes`]);
        return { state };
      }
      const { host, step, time, values } = value as Static<typeof ExportedRow>;
      const span = spans.get(`${host} ${step}`) ?? { first: time, last: -1 };
      if (time % step !== 0 || time <= span.last || time - span.first >= step * findRing(step).size)
        throw new SettingsError(['hostReadings.time must be the start of a step, in order, and within the history']);
      spans.set(`${host} ${step}`, { first: span.first, last: time });
      return { host, row: { step, time, values: toRowValues(values) } };
    };
  },
});

/** Exports the last state of each host, then the rows of its rings. Host settings and keys are runtime settings. */
export const hostTransfer = defineTransfer<Change>({
  ...createHostTransfer(true),
  withoutReadings: createHostTransfer(false),
});

const openHostFolder = (files: HostFiles, hasReadings: boolean): PortableFolder<Change> => ({
  isEmpty: async () => (await files.listNames()).length === 0,
  readSize: async () => {
    const sizes = hasReadings ? rings.map(({ size }) => size * rowBytes) : [];
    return (await files.listNames()).length * sizes.reduce((sum, size) => sum + size, headBytes);
  },
  read: async function* () {
    const hosts = new Map<string, number>();
    for await (const { name, state } of files.readStates()) {
      if (state) hosts.set(name, state.at);
      yield { file: `${name}.host`, changes: state && [{ state }], bytes: headBytes };
    }
    if (!hasReadings) return;
    for (const [host, at] of hosts) {
      for (const { step, size } of rings) {
        const to = align(Math.floor(at / 1000), step);
        const rows = await files.read(host, step, to - (size - 1) * step, to).catch(() => undefined);
        yield { file: `${host}.host`, changes: rows?.map((row) => ({ host, row })), bytes: size * rowBytes };
      }
    }
  },
  add: async (changes) => {
    const { states, rows } = divide(changes);
    for (const state of states) await files.saveState(state.name, JSON.stringify(state));
    await Promise.all(rows.map(({ host, row }) => files.addRow(host, row)));
  },
  save: () => files.sync(),
  close: () => files.close(),
});

const divide = (changes: readonly Change[]) => ({
  states: changes.flatMap((change) => ('state' in change ? [change.state] : [])),
  rows: changes.flatMap((change) => ('row' in change ? [change] : [])),
});

/**
 * Limits the time of the last report to `now`. The clock of the exporting server may have been ahead, and a later state
 * would hide new reports.
 */
const limitToPast = (state: HostState, now: number): HostState => ({
  ...state,
  at: Math.min(state.at, now),
  lineAt: Math.min(state.lineAt, align(Math.floor(now / 1000), rings[1].step)),
});
