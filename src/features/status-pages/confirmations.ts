import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../../lib/parse-json.ts';
import { confirmationMs } from './fold.ts';

/** Subscription that the owner of the mail address must confirm. */
export interface SubscriptionConfirmation {
  page: string;
  address: string;
}

/**
 * Creates and reads the tokens in confirmation links. They are valid for a day. Nothing is stored about an address
 * until it is confirmed. The first key signs new tokens. Tokens signed with any of the keys are valid.
 */
export const createConfirmations = (keys: readonly Buffer[], clock: () => Date) => {
  const sign = (content: string, key: Buffer): Buffer => createHmac('sha256', key).update(content).digest();
  return {
    create: ({ page, address }: SubscriptionConfirmation): string => {
      const content = Buffer.from(JSON.stringify([page, address, clock().getTime() + confirmationMs])).toString(
        'base64url',
      );
      const [key = Buffer.alloc(0)] = keys;
      return `${content}.${sign(content, key).toString('base64url')}`;
    },
    /** Reads a token. Returns undefined if it has expired or is invalid. */
    read: (token: string): (SubscriptionConfirmation & { askedAt: number }) | undefined => {
      const [content = '', signature = ''] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const isSigned = keys.some((key) => {
        const own = sign(content, key);
        return own.length === given.length && timingSafeEqual(own, given);
      });
      if (!isSigned) return undefined;
      const [page, address, until] = parseJson(Buffer.from(content, 'base64url').toString()) as [
        string,
        string,
        number,
      ];
      return until > clock().getTime() ? { page, address, askedAt: until - confirmationMs } : undefined;
    },
  };
};

export type Confirmations = ReturnType<typeof createConfirmations>;

/**
 * Period within which requests count, in milliseconds. The maximum numbers of requests follow: in total, per caller,
 * and per address.
 */
const windowMs = 10 * 60_000;
const maxRequests = { all: 60, caller: 5, address: 1 };

/**
 * Limits mails with confirmation links, so that nobody can flood a mailbox or make the mail server look like a source
 * of spam.
 */
export class RequestLimit {
  #requests: { caller: string; address: string; at: number }[] = [];

  /** Counts a request. `full`: the request must be refused. `sent`: a mail was recently sent to the address. */
  count(caller: string, given: string): 'ok' | 'full' | 'sent' {
    const at = performance.now();
    const address = given.toLowerCase();
    this.#requests = this.#requests.filter((one) => one.at > at - windowMs);
    const isFull = this.#requests.length >= maxRequests.all;
    if (isFull || this.#requests.filter((one) => one.caller === caller).length >= maxRequests.caller) return 'full';
    const isRepeated = this.#requests.filter((one) => one.address === address).length >= maxRequests.address;
    this.#requests.push({ caller, address, at });
    return isRepeated ? 'sent' : 'ok';
  }
}
