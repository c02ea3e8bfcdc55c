import { forbiddenAddress } from '../../../kit/reach.ts';
import type { DeliveryOutcome } from '../queue/outcome.ts';

/** Step of an SMTP session at which a failure occurred. */
export type SmtpStep = 'connect' | 'login' | 'send';

/** Failure to send a mail. */
export class MailFailure extends Error {
  readonly step: SmtpStep;
  readonly code: string;
  /** System or TLS error code. */
  readonly origin: string;
  readonly command: string;
  /** Status of the server's response. Undefined without a response. */
  readonly status: number | undefined;
  readonly response: string;

  constructor(step: SmtpStep, error: SmtpError) {
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

export interface SmtpError {
  message: string;
  code?: string | undefined;
  originalCode?: string | undefined;
  command?: string | undefined;
  responseCode?: number | undefined;
  response?: string | undefined;
}

/**
 * True if the system or the server reports a TLS failure. A server that refuses EHLO with anything but 421 has no
 * STARTTLS.
 */
const isTlsProblem = ({ code, origin, command, status }: MailFailure): boolean =>
  code === 'ETLS' ||
  /CERT|TLS|SSL|UNABLE_TO/.test(origin) ||
  (command === 'EHLO' && status !== undefined && status !== 421);

const reasons: Record<string, string> = {
  ETIMEDOUT: 'the mail server did not respond in time',
  EDNS: 'the host name of the mail server is unknown',
  ECONNREFUSED: 'the connection to the mail server was refused',
  ENOTFOUND: 'the host name of the mail server is unknown',
};

/** Returns the reason. Leaves out the text of the server's response, because it may name people. */
export const toReason = (failure: MailFailure): string => {
  const { step, code, origin, status, response, command } = failure;
  if (origin === forbiddenAddress) return failure.message;
  if (isTlsProblem(failure)) {
    const detail = status ?? origin;
    return `TLS with the mail server failed${detail === '' ? '' : ` (${detail})`}`;
  }
  if (status === undefined) {
    if (code === 'EAUTH') return 'the mail server offers no supported login method';
    return reasons[origin] ?? reasons[code] ?? 'the connection to the mail server was closed';
  }
  const [, enhanced] = /^\d{3}[ -](\d\.\d{1,3}\.\d{1,3})\b/.exec(response) ?? [];
  const what = step === 'login' ? 'to the login' : command === '' || command === 'CONN' ? '' : `to ${command}`;
  return ['the mail server responded', String(status), enhanced ?? '', what].filter(Boolean).join(' ');
};

/**
 * Converts a failure to an outcome. A server that refuses the login, TLS or the From address rejects every mail. A
 * server that permanently refuses a recipient or the mail refuses only that mail. If one recipient is deferred
 * (greylisting), the others are deferred as well.
 */
export const toMailOutcome = (failure: MailFailure): DeliveryOutcome => {
  const { step, status, code, command } = failure;
  const reason = toReason(failure);
  if (failure.origin === forbiddenAddress) return { kind: 'rejected', reason };
  const isPermanent = status !== undefined && status >= 500;
  if (isTlsProblem(failure) || (step === 'login' && (isPermanent || (code === 'EAUTH' && status === undefined)))) {
    return { kind: 'rejected', reason };
  }
  if (step !== 'send') return isPermanent ? { kind: 'rejected', reason } : toTemporary(reason, false);
  if (code === 'EMESSAGE' && status === undefined) return { kind: 'refused', reason: 'the mail is too large' };
  // 552 means that the mail is too large, after whichever command it comes.
  if (isPermanent) return { kind: command === 'MAIL FROM' && status !== 552 ? 'rejected' : 'refused', reason };
  // The server may have received the mail.
  const isUnanswered = status === undefined && code === 'ETIMEDOUT';
  return { ...toTemporary(reason, status === undefined || command === 'DATA'), ...(isUnanswered && { isUnanswered }) };
};

/** True if the server responded about one mail or recipient, and may accept other mails. 421 ends the connection. */
export const concernsOneMail = ({ step, status, command }: MailFailure): boolean =>
  step === 'send' && status !== undefined && status !== 421 && (command === 'RCPT TO' || command === 'DATA');

const toTemporary = (reason: string, mayBeMessage: boolean): Extract<DeliveryOutcome, { kind: 'failed' }> => ({
  kind: 'failed',
  reason,
  seconds: 0,
  mayBeMessage,
});
