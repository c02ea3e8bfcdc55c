import type { LookupFunction } from 'node:net';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import type { SMTPConnectionSendInfo } from 'nodemailer/lib/smtp-connection/index.js';
import { toOutgoing } from '../message/outgoing.ts';
import { type Mail, toMail } from './mail.ts';
import { concernsOneMail, MailFailure, type SmtpError, toMailOutcome, toReason } from './smtp-failure.ts';
import { SmtpSession } from './smtp-session.ts';
import type { ReceiverAddress, SendResult, Transport } from './type.ts';

/** Maximum number of remembered mails that were refused for some of their recipients. */
const mostPartial = 1000;

/** Creates the transport that sends messages through a mail server to the recipients in the settings. */
export const createMailTransport = (receiver: ReceiverAddress, seconds: number, lookup?: LookupFunction): Transport => {
  const { from = '', to = [] } = receiver.settings;
  const { send, close } = createMailSender(receiver, seconds, lookup);
  return { send: async (content) => send(toMail(toOutgoing(content), from, to)), close };
};

/** Sends mails through one server. */
export interface MailSender {
  send(mail: Mail): Promise<SendResult>;
  /** Aborts all mails. */
  close(): Promise<void>;
}

/** Creates a sender of mails. A mail may take up to `seconds`. `lookup` replaces name resolution. */
export const createMailSender = (receiver: ReceiverAddress, seconds: number, lookup?: LookupFunction): MailSender => {
  const open = new Set<SmtpSession>();
  let idle: SmtpSession[] = [];
  /**
   * Accepted recipients by mail id, for mails that the server refused for other recipients. Retries skip the accepted
   * recipients.
   */
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
  /**
   * Sends a mail. A failure on a reused connection does not count as an attempt, because the server may have closed the
   * connection.
   */
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
    send: async (mail): Promise<SendResult> => {
      try {
        const info = await sendMail(mail, await compose(mail));
        const [refused] = info.rejectedErrors?.toSorted(byStatus) ?? [];
        if (refused) throw new MailFailure('send', refused);
        return { outcome: { kind: 'delivered' }, reply: info.response };
      } catch (error) {
        if (!(error instanceof MailFailure)) throw error;
        return {
          outcome: toMailOutcome(error),
          reply: error.response || toReason(error),
          concernsOneMail: concernsOneMail(error),
        };
      }
    },
    close: async () => {
      for (const session of [...open]) session.end();
    },
  };
};

/** Compares failures for sorting. Temporary failures come first, because they are retried. */
const byStatus = (one: SmtpError, other: SmtpError): number => (one.responseCode ?? 0) - (other.responseCode ?? 0);

const remember = (accepted: Map<string, Set<string>>, id: string, recipients: readonly string[]): void => {
  accepted.set(id, new Set([...(accepted.get(id) ?? []), ...recipients]));
  const [oldest] = accepted.keys();
  if (accepted.size > mostPartial && oldest !== undefined) accepted.delete(oldest);
};

const compose = (mail: Mail): Promise<Buffer> =>
  new MailComposer({ ...mail, disableFileAccess: true, disableUrlAccess: true }).compile().build();
