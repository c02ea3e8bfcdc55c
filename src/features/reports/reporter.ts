import type { FastifyBaseLogger } from 'fastify';
import { problemStates } from '../../kit/heartbeat-states.ts';
import type { ReportCollector } from '../../kit/host-report/collector.ts';
import { type HostReport, mostHeartbeats, mostKept, toReportLine } from '../../kit/host-report/report-schema.ts';
import type { CommandSource, HeartbeatSource, HostCheck, PushedWatch, WatchSource } from '../../kit/offers.ts';
import { isObject } from '../../lib/parse-json.ts';
import { awaitWithin } from '../../lib/scheduling.ts';
import type { HubClient, HubReply } from './hub-client.ts';
import type { KeptMinute, KeptReadings } from './kept-readings.ts';

/** Milliseconds between reports. One in every `processesEvery` reports includes processes. */
const reportMs = 10_000;
const processesEvery = 6;

/** Maximum milliseconds for the last report when the program stops. */
const farewellMs = 3000;

/** Path for reports. The caller's key identifies the reporting host. */
const path = 'api/hosts/self/readings';
const resultPath = 'api/hosts/self/results';

interface ReporterParts {
  collector: Pick<ReportCollector, 'start' | 'stop' | 'collect'>;
  client: Pick<HubClient, 'send' | 'close'>;
  kept: KeptReadings;
  /** Watches received from the hub. Undefined if this server runs no watches. */
  watches: Pick<WatchSource, 'receivedId' | 'receive' | 'listChecks'> | undefined;
  /** Heartbeats of this machine. Undefined if this server has no heartbeats. */
  heartbeats: HeartbeatSource | undefined;
  /** Commands of this machine. Undefined if the hub may not run commands. */
  commands: CommandSource | undefined;
  /** Address of the hub, for the audit. */
  hub: string;
  /** Called after each report that the hub has received. */
  onReceived?(): void;
  log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  clock: () => Date;
}

/** Reports readings of this machine to the hub. Stores readings that could not be delivered. */
export class Reporter {
  readonly #parts: ReporterParts;
  #timer: NodeJS.Timeout | undefined;
  #working: Promise<void> = Promise.resolve();
  #isWorking = false;
  #count = 0;
  /** Status of the latest response to a report. */
  #lastStatus = 0;
  /** Reason for the last failure. Undefined while reports reach the hub. */
  #failure: string | undefined;
  #hasReported = false;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#parts.collector.start();
    this.#timer = setInterval(() => this.#advance(), reportMs);
    this.#advance();
  }

  /** Sends a final report. It announces that the host is stopping in an orderly way. */
  async close(): Promise<void> {
    const { client, collector, kept } = this.#parts;
    if (!this.#timer) return;
    clearInterval(this.#timer);
    await awaitWithin(farewellMs, this.#working);
    if (this.#failure === undefined && this.#hasReported) {
      const report = await collector.collect(false);
      await awaitWithin(farewellMs, client.send(path, { ...report, isStopping: true }));
    }
    collector.stop();
    client.close();
    await kept.flush().catch(() => undefined);
  }

  #advance(): void {
    // The next report covers the period of the skipped report.
    if (this.#isWorking) return;
    this.#isWorking = true;
    this.#working = this.#report()
      .catch((err) => this.#fail(String((err as Error).message)))
      .finally(() => {
        this.#isWorking = false;
      });
  }

  async #report(): Promise<void> {
    const { clock, collector, kept } = this.#parts;
    const report = {
      ...(await collector.collect(this.#count % processesEvery === 0)),
      ...this.#describeWatches(),
      ...this.#describeHeartbeats(),
      allowsCommands: this.#parts.commands !== undefined,
    };
    this.#count += 1;
    let left: number;
    do {
      const oldest = kept.first(mostKept);
      left = kept.count - oldest.length;
      const reply = await this.#send(report, oldest, left);
      if (reply.status !== 200) {
        await kept.add(clock().getTime(), report.readings);
        this.#fail(explain(reply));
        return;
      }
      await kept.remove(oldest);
      this.#succeed(reply);
      await this.#receiveWatches(reply);
      this.#runCommands(reply);
    } while (left > 0);
    // The next report delivers the readings from the minute in which the hub came back.
    await kept.flush();
  }

  /**
   * Sends a report together with stored minutes. If the hub rejects the minutes, sends the report without them, because
   * they would block all later reports.
   */
  async #send(report: HostReport, oldest: readonly KeptMinute[], left: number): Promise<HubReply> {
    const { client, log } = this.#parts;
    const reply = await client.send(path, addKept(report, [...oldest], left));
    const isRepeated = reply.status === 500 && this.#lastStatus === 500;
    this.#lastStatus = reply.status;
    if (oldest.length === 0 || !(isRepeated || isRefusal(reply.status))) return reply;
    const bare = await client.send(path, report);
    this.#lastStatus = bare.status;
    if (bare.status !== 200) return bare;
    const minutes = { from: oldest[0]?.time, until: oldest.at(-1)?.time };
    log.warn({ reason: reply.reason, ...minutes }, 'the hub refused stored readings; the readings are dropped');
    return bare;
  }

  /** Runs commands from the hub. Reports the result of each command when the command has ended. */
  #runCommands({ body: { commands: list } }: HubReply): void {
    const { client, commands, hub } = this.#parts;
    if (!commands || !Array.isArray(list)) return;
    for (const { id, line, by, requestId } of list.filter(isCommand).slice(0, mostCommands)) {
      const caller = { by: typeof by === 'string' ? by : null, requestId: String(requestId), hub };
      void commands.execute(line, caller).then((result) => client.send(resultPath, { id, ...result }));
    }
  }

  #describeWatches(): Pick<HostReport, 'watchesId' | 'checks'> {
    const { watches } = this.#parts;
    if (!watches) return {};
    const checks = watches.listChecks().slice(0, mostChecks);
    const textLength = Math.min(2000, Math.floor(mostTextLength / checks.length));
    return {
      watchesId: watches.receivedId,
      ...(checks.length > 0 && { checks: checks.map((check) => toLines(check, textLength)) }),
    };
  }

  #describeHeartbeats(): Pick<HostReport, 'heartbeats'> {
    const all = this.#parts.heartbeats?.list() ?? [];
    // Heartbeats with a problem are never cut off.
    const rank = ({ state }: (typeof all)[number]): number =>
      problemStates.indexOf(state) + 1 || problemStates.length + 1;
    const list = all.toSorted((one, other) => rank(one) - rank(other)).slice(0, mostHeartbeats);
    return list.length > 0 ? { heartbeats: list } : {};
  }

  async #receiveWatches({ body: { watchesId: id, watches: list } }: HubReply): Promise<void> {
    if (typeof id !== 'string' || !Array.isArray(list)) return;
    await this.#parts.watches?.receive({ id, list: list.filter(isPushed) });
  }

  #succeed({ body: { name: host } }: HubReply): void {
    const { log, onReceived } = this.#parts;
    onReceived?.();
    if (!this.#hasReported || this.#failure !== undefined)
      log.info({ host }, 'the hub is receiving reports from this host');
    this.#hasReported = true;
    this.#failure = undefined;
  }

  #fail(reason: string): void {
    if (this.#failure !== reason)
      this.#parts.log.warn({ reason }, 'the hub is not receiving reports from this host; trying again');
    this.#failure = reason;
  }
}

/** True for a status that repeating the report would not change. */
const isRefusal = (status: number): boolean => status >= 400 && status < 500 && ![401, 403, 429].includes(status);

/** Maximum number of commands accepted per response. */
const mostCommands = 16;

const isCommand = (value: unknown): value is { id: string; line: string; by: unknown; requestId: unknown } =>
  isObject(value) && typeof value['id'] === 'string' && typeof value['line'] === 'string';

/** Maximum number of watch results per report. */
const mostChecks = 100;

/** Maximum length in characters of all results in a report. The hub refuses reports of more than 128 KiB. */
const mostTextLength = 30_000;

/** Converts a result to single-line text, cut to the length that the hub accepts. */
const toLines = ({ thing, text, ...check }: HostCheck, textLength: number): HostCheck => ({
  ...check,
  thing: toReportLine(thing, 1000),
  text: toReportLine(text, textLength),
});

const isPushed = (value: unknown): value is PushedWatch => isObject(value) && isObject(value['watch']);

const addKept = (report: HostReport, kept: HostReport['kept'] = [], keptLeft: number): HostReport =>
  kept.length === 0 ? report : { ...report, kept, keptLeft };

const explain = ({ status, reason }: HubReply): string =>
  status === 404 ? `${reason}: the hub does not accept reports, or is older than 1.2.0` : reason;
