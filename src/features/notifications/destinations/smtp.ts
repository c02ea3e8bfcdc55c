import { type LookupFunction, Socket } from 'node:net';
import { hostname } from 'node:os';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import SmtpConnection, {
  type SMTPConnectionSendInfo,
  type SMTPEnvelope,
} from 'nodemailer/lib/smtp-connection/index.js';
import { isLoopback } from '../../../http/admission.ts';
import { forbiddenTarget } from '../../../kit/targets.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';
import { type Mail, toMail } from './mail.ts';
import type { OutgoingSender, ReceiverAddress, SendResult } from './type.ts';

/** Milliseconds until the server has greeted, which some delay on purpose, and TLS is set up. */
const connectMs = 30_000;
/** Milliseconds for which a connection is kept for the next mail. */
const idleMs = 5000;

/** The most mails whose recipients are remembered, because others refused them. */
const mostPartial = 1000;

/** A step of sending, which decides what a failure is about. */
type Step = 'connect' | 'login' | 'send';

/** Why a mail was not sent. */
class MailFailure extends Error {
  readonly step: Step;
  readonly code: string;
  /** What the system or TLS calls it. */
  readonly origin: string;
  readonly command: string;
  /** Of the server's response, if there was one. */
  readonly status: number | undefined;
  readonly response: string;

  constructor(step: Step, error: SmtpError) {
    super(error.message);
    const { code = '', originalCode = '', command = '', responseCode, response = '' } = error;
    this.step = step;
    this.code = code;
    this.origin = originalCode;
    this.command = command;
    this.status = responseCode;
    this.response = response;
  }
}

interface SmtpError {
  message: string;
  code?: string | undefined;
  originalCode?: string | undefined;
  command?: string | undefined;
  responseCode?: number | undefined;
  response?: string | undefined;
}

/** Sends mails to one server, to where `lookup` leads if it is given. A mail takes `seconds` at most. */
export const createMailSender = (
  receiver: ReceiverAddress,
  seconds: number,
  lookup?: LookupFunction,
): OutgoingSender => {
  const { from = '', to = [] } = receiver.settings;
  const open = new Set<SmtpSession>();
  let idle: SmtpSession[] = [];
  /** Recipients that have accepted a mail that others refused, by its id: they do not get it again. */
  const accepted = new Map<string, Set<string>>();
  const connect = async (): Promise<SmtpSession> => {
    const session = new SmtpSession(receiver, seconds, lookup);
    open.add(session);
    session.onEnd(() => {
      open.delete(session);
      idle = idle.filter((one) => one !== session);
    });
    await session.open();
    return session;
  };
  const sendOn = async (session: SmtpSession, mail: Mail, bytes: Buffer): Promise<SMTPConnectionSendInfo> => {
    const all = mail.to.map(({ address }) => address);
    const left = all.filter((address) => !accepted.get(mail.messageId)?.has(address));
    const info = await session.send({ from: mail.from.address, to: left }, bytes);
    idle.push(session);
    session.rest();
    if (info.rejected.length === 0) accepted.delete(mail.messageId);
    else remember(accepted, mail.messageId, info.accepted);
    return info;
  };
  /** The server may have ended a connection that was kept, so that one is no attempt. */
  const sendMail = async (mail: Mail, bytes: Buffer): Promise<SMTPConnectionSendInfo> => {
    const kept = idle.pop();
    if (kept) {
      try {
        return await sendOn(kept, mail, bytes);
      } catch (error) {
        if (!(error instanceof MailFailure) || error.status !== undefined || error.code === 'ETIMEDOUT') throw error;
      }
    }
    return sendOn(await connect(), mail, bytes);
  };
  return {
    send: async (outgoing): Promise<SendResult> => {
      try {
        const mail = toMail(outgoing, from, to);
        const info = await sendMail(mail, await compose(mail));
        const [refused] = info.rejectedErrors?.toSorted(byStatus) ?? [];
        if (refused) throw new MailFailure('send', refused);
        return { outcome: { kind: 'delivered' }, reply: info.response };
      } catch (error) {
        if (!(error instanceof MailFailure)) throw error;
        return { outcome: toMailOutcome(error), reply: error.response || toReason(error) };
      }
    },
    close: async () => {
      for (const session of [...open]) session.end();
    },
  };
};

/** Those that are temporary first: the mail is tried again for them. */
const byStatus = (one: SmtpError, other: SmtpError): number => (one.responseCode ?? 0) - (other.responseCode ?? 0);

const remember = (accepted: Map<string, Set<string>>, id: string, recipients: readonly string[]): void => {
  accepted.set(id, new Set([...(accepted.get(id) ?? []), ...recipients]));
  const [oldest] = accepted.keys();
  if (accepted.size > mostPartial && oldest !== undefined) accepted.delete(oldest);
};

const compose = (mail: Mail): Promise<Buffer> =>
  new MailComposer({ ...mail, disableFileAccess: true, disableUrlAccess: true }).compile().build();

/** One connection, on which mails are sent one after the other. */
class SmtpSession {
  readonly #receiver: ReceiverAddress;
  readonly #connection: SmtpConnection;
  readonly #limitMs: number;
  #isUsed = false;
  #timer: NodeJS.Timeout | undefined;
  /** Fails the step that is under way. */
  #fail: (error: SmtpError) => void = () => undefined;
  #onEnd: () => void = () => undefined;

  constructor(receiver: ReceiverAddress, seconds: number, lookup: LookupFunction | undefined) {
    const { url, settings, trust } = receiver;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const { tls = isLoopback(host) ? 'none' : 'required' } = settings;
    const secure = url.protocol === 'smtps:';
    this.#receiver = receiver;
    this.#limitMs = seconds * 1000;
    this.#connection = new SmtpConnection({
      host,
      secure,
      name: hostname(),
      ...(url.port !== '' && { port: Number(url.port) }),
      ...(lookup && { socket: createSocket(lookup) }),
      tls: trust,
      ...(tls === 'required' ? { requireTLS: true } : { ignoreTLS: true }),
      connectionTimeout: Math.min(connectMs, this.#limitMs),
      dnsTimeout: 5000,
      greetingTimeout: this.#limitMs,
      socketTimeout: this.#limitMs,
    });
    this.#connection.on('error', (error: SmtpError) => this.#fail(error));
    this.#connection.on('end', () => {
      clearTimeout(this.#timer);
      this.#onEnd();
    });
  }

  onEnd(listener: () => void): void {
    this.#onEnd = listener;
  }

  async open(): Promise<void> {
    const { settings, secrets } = this.#receiver;
    this.#limit();
    await this.#step('connect', (done) => this.#connection.connect(done));
    const { user } = settings;
    const [pass = ''] = secrets;
    if (user !== undefined) await this.#step('login', (done) => this.#connection.login({ user, pass }, done));
  }

  async send(envelope: SMTPEnvelope, bytes: Buffer): Promise<SMTPConnectionSendInfo> {
    if (this.#isUsed) {
      this.#limit();
      await this.#step('connect', (done) => this.#connection.reset(done));
    }
    this.#isUsed = true;
    const size = bytes.length;
    const info = await this.#step<SMTPConnectionSendInfo>('send', (done) =>
      this.#connection.send({ ...envelope, size }, bytes, done),
    );
    if (!info) throw new Error('a mail was sent without a response');
    return info;
  }

  /** Waits a little for the next mail. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.end(), idleMs).unref();
  }

  end(): void {
    this.#fail({ message: 'closed', code: 'ECONNECTION' });
    this.#connection.close();
  }

  #limit(): void {
    clearTimeout(this.#timer);
    const overdue = { message: 'overdue', code: 'ETIMEDOUT' };
    this.#timer = setTimeout(() => {
      this.#fail(overdue);
      this.#connection.close();
    }, this.#limitMs);
  }

  /** Rejects with a MailFailure, after which the connection is closed. */
  async #step<T>(
    step: Step,
    begin: (done: (error?: SmtpError | null, value?: T) => void) => void,
  ): Promise<T | undefined> {
    try {
      return await new Promise<T | undefined>((resolve, reject) => {
        this.#fail = (error) => reject(new MailFailure(step, error));
        begin((error, value) => {
          if (error) this.#fail(error);
          else resolve(value);
        });
      });
    } catch (error) {
      clearTimeout(this.#timer);
      this.#connection.close();
      throw error;
    } finally {
      this.#fail = () => undefined;
    }
  }
}

/** One that connects only to where the look-up leads. */
const createSocket = (lookup: LookupFunction): Socket => {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  const connectTo = (port: number, host: string, onConnect: () => void) => connect({ port, host, lookup }, onConnect);
  return Object.assign(socket, { connect: connectTo as Socket['connect'] });
};

/** Whether the system or the server says that TLS is the problem. */
const isTlsProblem = ({ code, origin, message }: MailFailure): boolean =>
  code === 'ETLS' || /CERT|TLS|SSL|SELF_SIGNED/.test(origin) || /required STARTTLS/.test(message);

const reasons: Record<string, string> = {
  ETIMEDOUT: 'the mail server did not respond in time',
  EDNS: 'the host name of the mail server is unknown',
  ECONNREFUSED: 'the connection to the mail server was refused',
  ENOTFOUND: 'the host name of the mail server is unknown',
};

/** Without the text of the response, which may name people. */
const toReason = (failure: MailFailure): string => {
  const { step, code, origin, status, response, command } = failure;
  if (origin === forbiddenTarget) return failure.message;
  if (isTlsProblem(failure)) {
    const detail = status ?? (origin || /[A-Z]+(?:_[A-Z]+)+|certificate/.exec(failure.message)?.[0]);
    return `TLS with the mail server failed${detail === undefined ? '' : ` (${detail})`}`;
  }
  if (status === undefined) {
    if (code === 'EAUTH') return 'the mail server offers no login that is supported';
    return reasons[origin] ?? reasons[code] ?? 'the connection to the mail server was closed';
  }
  const [, enhanced] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? [];
  const what = step === 'login' ? 'to the login' : command === '' || command === 'CONN' ? '' : `to ${command}`;
  return ['the mail server responded', String(status), enhanced ?? '', what].filter(Boolean).join(' ');
};

/**
 * A server that refuses the login, TLS or the sender refuses the destination; one that refuses a recipient or the mail for good
 * would refuse it again. While a recipient or the sender is deferred (greylisting), others are too.
 */
const toMailOutcome = (failure: MailFailure): DeliveryOutcome => {
  const { step, status, code, command } = failure;
  const reason = toReason(failure);
  if (failure.origin === forbiddenTarget) return { kind: 'rejected', reason };
  const isPermanent = status !== undefined && status >= 500;
  if (isTlsProblem(failure) || (step === 'login' && (isPermanent || (code === 'EAUTH' && status === undefined)))) {
    return { kind: 'rejected', reason };
  }
  if (step !== 'send') return isPermanent ? { kind: 'rejected', reason } : toTemporary(reason, false);
  if (code === 'EMESSAGE' && status === undefined) return { kind: 'refused', reason: 'the mail is too large' };
  // 552: too large, whatever it responds to.
  if (isPermanent) return { kind: command === 'MAIL FROM' && status !== 552 ? 'rejected' : 'refused', reason };
  // The server may have the mail.
  const isUnanswered = status === undefined && code === 'ETIMEDOUT';
  return { ...toTemporary(reason, status === undefined || command === 'DATA'), ...(isUnanswered && { isUnanswered }) };
};

const toTemporary = (reason: string, mayBeMessage: boolean): Extract<DeliveryOutcome, { kind: 'failed' }> => ({
  kind: 'failed',
  reason,
  seconds: 0,
  mayBeMessage,
});
