import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { atEnd, type Scope } from './scope.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  /** Headers with names in lower case. Values are unfolded and decoded. */
  headers: Record<string, string>;
  text: string;
  html: string;
  raw: string;
  /** User who logged in. */
  user: string | undefined;
  isSecure: boolean;
  /** Id of the connection's session. */
  session: string;
}

export interface MailServer {
  port: number;
  url: string;
  /** Mails in order of arrival, including mails that `onMail` refused. */
  mails: ReceivedMail[];
}

interface MailServerOptions extends Pick<SMTPServerOptions, 'secure' | 'key' | 'cert' | 'onConnect' | 'onMailFrom'> {
  /** Accepted logins. Without any, nobody can log in. */
  passwords?: Record<string, string>;
  hasStartTls?: boolean;
  /** Returns the refusal of a recipient. Undefined if the recipient is accepted. */
  onRecipient?(address: string): Error | undefined;
  /** Returns the refusal of a mail. Undefined if the mail is accepted. */
  onMail?(mail: ReceivedMail): Error | undefined;
}

/** Creates a refusal with an SMTP status. */
export const refusal = (status: number, text: string): Error =>
  Object.assign(new Error(text), { responseCode: status });

/** Starts a mail server on a free port on 127.0.0.1. The server is stopped when the test ends. */
export const startMailServer = async (t: Scope, options: MailServerOptions = {}): Promise<MailServer> => {
  const { passwords, hasStartTls = false, onRecipient, onMail, ...others } = options;
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...others,
    authOptional: passwords === undefined,
    disabledCommands: [...(hasStartTls ? [] : ['STARTTLS']), ...(passwords ? [] : ['AUTH'])],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    size: 1024 * 1024,
    closeTimeout: 10,
    onAuth: ({ username = '', password }, _session, done) => {
      if (passwords?.[username] === password) done(null, { user: username });
      else done(refusal(535, '5.7.8 wrong password'));
    },
    onRcptTo: ({ address }, _session, done) => done(onRecipient?.(address)),
    onData: async (stream, session, done) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk);
      const { mailFrom, rcptTo } = session.envelope;
      const mail = {
        from: mailFrom ? mailFrom.address : '',
        to: rcptTo.map(({ address }) => address),
        ...parseMail(Buffer.concat(chunks).toString('latin1')),
        user: session.user,
        isSecure: session.secure,
        session: session.id,
      };
      mails.push(mail);
      done(onMail?.(mail));
    },
  });
  // A client that disconnects is not a server error.
  server.on('error', () => undefined);
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  atEnd(t, () => new Promise<void>((resolve) => void server.close(() => resolve())));
  const { port } = listening.address() as AddressInfo;
  return { port, url: `smtp://127.0.0.1:${port}`, mails };
};

/** Parses a mail in the form that signalbox sends: with text and HTML, or with text alone. */
export const parseMail = (raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html' | 'raw'> => {
  const { headers, body } = parsePart(raw);
  if (headers['content-type']?.startsWith('text/plain')) {
    return { headers, text: decodeBody({ headers, body }).trimEnd(), html: '', raw };
  }
  const [, boundary = ''] = /boundary="?([^";]+)/.exec(headers['content-type'] ?? '') ?? [];
  const parts = body.split(`--${boundary}`).map((part) => parsePart(part.replace(/^\r\n/, '')));
  const find = (type: string): string => {
    const part = parts.find((one) => one.headers['content-type']?.startsWith(type));
    return part ? decodeBody(part).trimEnd() : '';
  };
  return { headers, text: find('text/plain'), html: find('text/html'), raw };
};

const parsePart = (raw: string): { headers: Record<string, string>; body: string } => {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = lines.map((line) => [
    line.split(':', 1).join().toLowerCase(),
    decodeWords(line.replace(/^[^:]*: ?/, '')),
  ]);
  return { headers: Object.fromEntries(headers), body: raw.slice(end + 4) };
};

/** Decodes encoded words (RFC 2047). */
const decodeWords = (text: string): string =>
  text
    .replaceAll(/\?= +=\?/g, '?==?')
    .replaceAll(/=\?utf-8\?([bq])\?(.*?)\?=/gi, (_word, form: string, coded: string) =>
      /b/i.test(form) ? Buffer.from(coded, 'base64').toString() : decodeQuoted(coded.replaceAll('_', ' ')),
    );

const decodeBody = ({ headers, body }: { headers: Record<string, string>; body: string }): string => {
  const coding = headers['content-transfer-encoding'] ?? '7bit';
  if (coding === 'base64') return Buffer.from(body, 'base64').toString().replaceAll('\r\n', '\n');
  const text = coding === 'quoted-printable' ? decodeQuoted(body.replaceAll(/=\r\n/g, '')) : body;
  return text.replaceAll('\r\n', '\n');
};

const decodeQuoted = (text: string): string =>
  Buffer.from(
    text.replaceAll(/=([0-9A-F]{2})/gi, (_coded, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString();
