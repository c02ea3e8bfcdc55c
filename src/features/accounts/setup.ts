import { randomBytes, timingSafeEqual } from 'node:crypto';
import { openFor } from '../../auth/access.ts';
import { ErrorBody, HttpError } from '../../http/errors.ts';
import type { Invitation } from '../../kit/feature.ts';
import { assertOwnMembers } from '../../kit/own-members.ts';
import { defineRoute, type Route } from '../../kit/route.ts';
import { sendSetting } from '../../kit/setting-routes.ts';
import { FirstAccount, ShownUser } from './schema.ts';
import { linkUsed, type UserKeeper } from './user-keeper.ts';
import { toShownUser } from './user-kind.ts';

const codeBytes = 24;
const setupMinutes = 30;

/** Setup of the first account, using the code from the start message. The code works once. */
export interface Setup {
  /** Invitation to the setup screen. Undefined once an account exists. */
  invitation: Invitation | undefined;
  /** Reserves the code for one request. Throws an HttpError if the code is wrong, expired or already used. */
  take(code: string): void;
  /** Releases the code after a request that created no account. */
  giveBack(): void;
}

/** Creates the setup with a code known only to this process. `now` is monotonic, in milliseconds. */
export const createSetup = (isNeeded: () => boolean, now: () => number = () => performance.now()): Setup => {
  const code = Buffer.from(randomBytes(codeBytes).toString('base64url'));
  const endsAt = now() + setupMinutes * 60_000;
  let isTaken = false;
  const invitation = {
    profile: 'accounts',
    text: `Create the first account within ${setupMinutes} minutes (later, restart for a new link)`,
    fragment: `#/setup?code=${code.toString()}`,
  };
  const refuse = (reason: string): HttpError =>
    new HttpError('forbidden', `${reason}: restart the server for a new link, or run signalbox create-user`);
  return {
    invitation: isNeeded() ? invitation : undefined,
    take: (text) => {
      const given = Buffer.from(text);
      if (given.length !== code.length || !timingSafeEqual(given, code)) {
        throw refuse('This code is not from the latest start of the server');
      }
      if (isTaken || !isNeeded()) throw linkUsed();
      if (now() > endsAt) throw refuse(`The link has expired after ${setupMinutes} minutes`);
      isTaken = true;
    },
    giveBack: () => {
      isTaken = false;
    },
  };
};

export const createSetupRoute = (setup: Setup, users: UserKeeper): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/setup',
    ...openFor('account:own'),
    staysOpen: true,
    summary: 'Create the first account with the code from the startup message',
    schema: {
      operationId: 'setUp',
      body: FirstAccount,
      response: { 201: ShownUser, 403: ErrorBody, 409: ErrorBody },
    },
    handler: async ({ body }, reply) => {
      assertOwnMembers(body, FirstAccount);
      const { code, name, password } = body;
      setup.take(code);
      try {
        const account = await users.createFirst({ name, password });
        return sendSetting(reply.code(201), toShownUser(account));
      } catch (error) {
        setup.giveBack();
        throw error;
      }
    },
  });
