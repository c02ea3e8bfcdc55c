import { type LookupFunction, Socket } from 'node:net';
import { hostname } from 'node:os';
import SmtpConnection, {
  type SMTPConnectionSendInfo,
  type SMTPEnvelope,
} from 'nodemailer/lib/smtp-connection/index.js';
import { isLoopback } from '../../../lib/loopback.ts';
import { MailFailure, type SmtpError, type SmtpStep } from './smtp-failure.ts';
import type { ReceiverAddress } from './type.ts';

/** Timeout for connection, TLS and greeting, in milliseconds. Some servers delay the greeting on purpose. */
const connectMs = 30_000;
/** Milliseconds for which an idle connection is kept open for the next mail. */
const idleMs = 5000;

/** Connection to a mail server. Sends mails one at a time. */
export class SmtpSession {
  readonly #receiver: ReceiverAddress;
  readonly #connection: SmtpConnection;
  readonly #limitMs: number;
  #isUsed = false;
  #timer: NodeJS.Timeout | undefined;
  /** Rejects the current step. */
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
    if (!info) throw new Error('the mail server did not confirm the mail');
    return info;
  }

  /** Keeps the connection open briefly in case another mail follows. */
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

  /** Runs a step. If it fails, closes the connection and rejects with a MailFailure. */
  async #step<T>(
    step: SmtpStep,
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

/** Creates a socket that connects to the addresses found by `lookup`. */
const createSocket = (lookup: LookupFunction): Socket => {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  const connectTo = (port: number, host: string, onConnect: () => void) => connect({ port, host, lookup }, onConnect);
  return Object.assign(socket, { connect: connectTo as Socket['connect'] });
};
