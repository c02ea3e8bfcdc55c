import { isLoopback } from '../../../lib/loopback.ts';
import type { DestinationType, ReceiverAddress } from './type.ts';

/** `anna@example.org`, or `Anna <anna@example.org>`. Quoted local parts are not supported. */
const address = /^(?:[^<>\p{Cc}]{0,100}<)?[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w.-]{1,253}>?$/u;

/** Mail via SMTP. `url` is the address of the server, and the secret is the password of `user`. */
export const emailDestination: DestinationType = {
  name: 'email',
  secret: 'optional',
  takesAnySecret: true,
  schemes: ['smtp', 'smtps'],
  ownSettings: ['from', 'to', 'user', 'tls'],
  findProblem: (receiver) => findAddressProblem(receiver) ?? findLoginProblem(receiver),
  timeoutSeconds: 120,
  openTransport: async (receiver, seconds, lookup) => {
    const { createMailTransport } = await import('./smtp.ts');
    return createMailTransport(receiver, seconds, lookup);
  },
};

const findAddressProblem = ({ url, settings, headers }: ReceiverAddress): string | undefined => {
  const { from, to } = settings;
  if (from === undefined || to === undefined) return 'type email needs from and to';
  if (url.pathname.length > 1 || url.search !== '')
    return 'url must contain only a host and a port, such as smtp://mail.example.org:587';
  if (Object.keys(headers).length > 0) return 'type email does not use token and headers: set user and secret instead';
  const wrong = [from, ...to].find((text) => !isAddress(text));
  return wrong === undefined ? undefined : `${JSON.stringify(wrong)} is not an address such as anna@example.org`;
};

const isAddress = (text: string): boolean => address.test(text) && text.includes('<') === text.endsWith('>');

const findLoginProblem = ({ url, settings, secrets }: ReceiverAddress): string | undefined => {
  const { user, tls } = settings;
  if (user === undefined && secrets.length > 0) return 'the secret is the password of a user: set user';
  if (user === undefined) return undefined;
  if (secrets.length === 0) return 'user needs a password: set secret or secretFile';
  const isPlain = url.protocol === 'smtp:' && tls === 'none' && !isLoopback(url.hostname);
  return isPlain ? 'tls "none" would send the password unencrypted: remove tls, or user' : undefined;
};
