import { pino } from 'pino';
import { features as allFeatures } from '../../../../src/features/index.ts';
import type { Feature } from '../../../../src/kit/feature.ts';
import { startApp } from '../../../support/app.ts';
import { createClient } from '../../../support/client.ts';
import { resolveReferences } from '../../../support/openapi.ts';
import { atEnd, type Scope } from '../../../support/scope.ts';
import { createClaims, createHmacSigner, signToken } from '../../../support/tokens.ts';
import type { tokenNames } from './headers.ts';
import { Finding, type Judged, judge } from './judge.ts';
import { createLedger } from './ledger.ts';
import { type Operation, toOperations } from './operations.ts';
import { type FuzzRequest, isUnfinished, needsOwnConnection, writeRequest } from './request.ts';
import { readSent } from './sent.ts';

export interface Service {
  operations: Operation[];
  /** Sends a request and checks its response. Throws a Finding. Resolves to undefined if no response was needed. */
  ask(request: FuzzRequest): Promise<Judged | undefined>;
}

export interface Variant {
  name: string;
  settings: Record<string, unknown>;
  /** True to log requests. Fastify then handles all requests, without the fast path in front of it. */
  verbose?: true;
}

const everything = ['monitoring', 'tasks', 'items', 'login', 'alerts', 'commands', 'metrics', 'history', 'status'];

/** Settings that reject no request under load and do not wait for the disk. */
const calm = { watchTargets: ['none.invalid'], alertsSync: false, maxEventLoopDelay: 0 };

/** Server configurations to try in turn. */
export const variants: readonly Variant[] = [
  { name: 'the default mounts', settings: calm },
  {
    name: 'open commands, closed alerts, pages of all origins',
    settings: { ...calm, alertsAuth: 'bearer', executeAuth: 'none', cors: true, loginTriesPerAddress: 0 },
  },
  {
    name: 'simple tasks at the top, the rest below',
    settings: {
      ...calm,
      mounts: { '/': ['simple-tasks'], '/all/of.it': everything, '/p': ['protected-tasks', 'login'] },
    },
  },
  { name: 'the default mounts, with a log of all requests', settings: calm, verbose: true },
];

/** Features without streams of events, because the complete response of a stream never arrives. */
const ending = allFeatures.filter(({ name }) => name !== 'events');

/** Starts an app with ledgers of its responses. */
export const startService = async (
  scope: Scope,
  { settings, verbose }: Variant = { name: 'the default', settings: {} },
  features: readonly Feature[] = ending,
): Promise<Service> => {
  const log = createLog();
  const { url, request } = await startApp(scope, {
    settings,
    features,
    ...(verbose && { log: log.logger }),
  });
  const document = await request<Parameters<typeof toOperations>[0]>('GET', '/openapi.json');
  const operations = toOperations(resolveReferences(document.json));
  const client = createClient(url);
  atEnd(scope, () => client.close());
  let issuedAt = 0;
  let tokens = createTokens();
  const resolve = (value: string) =>
    value.replaceAll(/\{(\w+)\}/g, (name, key) => tokens[key as keyof typeof tokens] ?? name);
  const record = createLedger();
  const ask = async (sent: FuzzRequest): Promise<Judged | undefined> => {
    const response = await client.send(writeRequest(sent, resolve), {
      isHead: sent.method === 'HEAD',
      alone: needsOwnConnection(sent),
      ends: isUnfinished(sent),
    });
    const judged = judge(sent, response, { operations, cors: settings['cors'] === true });
    log.assertSound();
    if (judged) record(sent, readSent(sent), judged);
    // Such a request revokes all tokens of the user. A token issued in the second of the revocation gets the next
    // second as `iat`.
    if (judged?.operation?.path.endsWith('/api/sessions') && judged.operation.method === 'DELETE') {
      issuedAt = Math.max(issuedAt + 1, Math.floor(Date.now() / 1000) + 1);
      tokens = createTokens(issuedAt);
    }
    return judged;
  };
  return { operations, ask };
};

/** Creates a log at every level. The log checks that each entry is one line of JSON. */
const createLog = () => {
  let broken: string | undefined;
  const write = (text: string): void => {
    if (!/^\{[^\n]*\}\n$/.test(text)) broken ??= text;
  };
  return {
    logger: pino({ level: 'debug' }, { write }),
    assertSound: (): void => {
      if (broken !== undefined) throw new Finding(`a log line is not JSON: ${broken}`);
    },
  };
};

const createTokens = (now = Math.floor(Date.now() / 1000)): Record<(typeof tokenNames)[number], string> => {
  const times = { iat: now, exp: now + 3600 };
  const header = { alg: 'none', typ: 'JWT' };
  // These names have no account, because a request that ends the sessions of an account revokes all tokens that the
  // tests sign for it.
  return {
    admin: signToken(createClaims({ ...times, sub: 'ada' })),
    reader: signToken(createClaims({ ...times, sub: 'bob', role: 'Reader' })),
    expired: signToken(createClaims({ iat: now - 7200, exp: now - 3600 })),
    future: signToken(createClaims({ iat: now + 7200, exp: now + 9000 })),
    forged: signToken(createClaims(), { sign: createHmacSigner('another key, as long as it has to be') }),
    unsigned: signToken(createClaims(), { header, sign: () => new Uint8Array() }),
    nobody: signToken(createClaims({ role: 'Root' })),
  };
};
