import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { needs } from '../../../auth/access.ts';
import { callerOf, principalOf } from '../../../auth/guard.ts';
import { ErrorBody, HttpError, requireKnown } from '../../../http/errors.ts';
import { sendJson } from '../../../http/json.ts';
import { createClientSignal, createQueue } from '../../../http/overload.ts';
import { ifMatchHeader, putConditionHeaders, readIfMatch, readPutCondition } from '../../../http/text-forms.ts';
import { assertNameOfPath, assertOwnMembers, pickOwnMembers } from '../../../kit/own-members.ts';
import type { Reach } from '../../../kit/reach.ts';
import { defineRoute, type Route } from '../../../kit/route.ts';
import { toSettingFacts } from '../../../kit/setting-kind.ts';
import { sendSetting } from '../../../kit/setting-routes.ts';
import { sendTest } from '../message/test-message.ts';
import { TestResult } from '../schema.ts';
import { requireOwnPerson } from './own-person.ts';
import type { People } from './people.ts';
import type { WayCodes } from './proof.ts';
import { Confirmation, Person, PersonBody, PersonList, PersonParams, ShownWay, WayBody, WayParams } from './schema.ts';
import { type KnownWay, requireWayName, toShownWay } from './way-kind.ts';

interface PersonRouteParts {
  people: People;
  codes: WayCodes;
  reach: Reach;
  clock: () => Date;
  isQuiet: boolean;
}

const own = needs('account:own');
const personPath = '/api/people/:person';
const wayPath = `${personPath}/ways/:way`;
const withVersion = { ETag: "The contact method's version, in quotes." };

/** Creates the routes with which people and administrators change the ways to reach people. */
export const createPersonRoutes = (parts: PersonRouteParts): Route[] => [
  createPeopleRoute(parts),
  createPersonRoute(parts),
  createPutPersonRoute(parts),
  createWayRoute(parts),
  createPutWayRoute(parts),
  createDeleteWayRoute(parts),
  createTestRoute(parts),
  createConfirmRoute(parts),
];

/**
 * Returns the person in the path. With `mayBeDeleted`, an Admin can also find the contact methods left by a deleted
 * user.
 */
const readPerson = (people: People, request: FastifyRequest, mayBeDeleted = false): string =>
  requireOwnPerson(request, 'ways', (name, isRefused) => {
    const hasLeft = mayBeDeleted && !isRefused && people.waysOf(name).length > 0;
    return hasLeft || people.isUser(name);
  });

const requireWay = (people: People, person: string, way: string): KnownWay =>
  requireKnown(people.ways.find(requireWayName(person, way)), 'Way', way, `/api/people/${person}`);

const show = (people: People, way: KnownWay): Static<typeof ShownWay> => toShownWay(way, people.findProblem(way));

const createPeopleRoute = ({ people }: PersonRouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/people',
    ...needs('incidents:read'),
    summary: 'List people with the number of their contact methods',
    schema: { operationId: 'listPeople', response: { 200: PersonList } },
    handler: async (_request, reply) => {
      const data = (people.listUsers() ?? []).map(({ name }) => {
        const ways = people.waysOf(name);
        return { name, ways: ways.length, proven: ways.filter(({ setting }) => setting.value.provenAt).length };
      });
      return sendJson(reply, { count: data.length, data });
    },
  });

const toPerson = (people: People, name: string): Static<typeof Person> => {
  const { setting } = people.people.find(name) ?? {};
  const { timeZone, quietHours, quietExcept } = setting?.value ?? {};
  return {
    name,
    ...(timeZone !== undefined && { timeZone }),
    ...(quietHours !== undefined && { quietHours }),
    ...(quietExcept !== undefined && { quietExcept: [...quietExcept] }),
    ways: people.waysOf(name).map((way) => show(people, way)),
    ...toSettingFacts(setting),
  };
};

const createPersonRoute = ({ people }: PersonRouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: personPath,
    ...own,
    summary: 'Get the contact methods of a person, without secrets, and the quiet hours',
    headers: { response: { ETag: "The version of the person's settings, in quotes." } },
    schema: { operationId: 'getPerson', params: PersonParams, response: { 200: Person, 404: ErrorBody } },
    handler: async (request, reply) => sendSetting(reply, toPerson(people, readPerson(people, request, true))),
  });

const createPutPersonRoute = ({ people }: PersonRouteParts): Route =>
  defineRoute({
    method: 'PUT',
    path: personPath,
    ...own,
    summary: 'Set the time zone and the quiet hours of a person',
    headers: { request: putConditionHeaders, response: { ETag: "The version of the person's settings, in quotes." } },
    schema: {
      operationId: 'putPerson',
      params: PersonParams,
      body: PersonBody,
      response: { 200: Person, 404: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const name = readPerson(people, request);
      assertOwnMembers(request.body, PersonBody, Person);
      const { timeZone, quietHours, quietExcept } = request.body;
      const expected = readPutCondition(request.headers, people.people.findStored(name) === undefined);
      await people.people.put(name, { timeZone, quietHours, quietExcept }, callerOf(request), expected);
      return sendSetting(reply, toPerson(people, name));
    },
  });

const createWayRoute = ({ people }: PersonRouteParts): Route =>
  defineRoute({
    method: 'GET',
    path: wayPath,
    ...own,
    summary: 'Get a contact method of a person, without secrets',
    headers: { response: withVersion },
    schema: { operationId: 'getWay', params: WayParams, response: { 200: ShownWay, 404: ErrorBody } },
    handler: async (request, reply) => {
      const person = readPerson(people, request, true);
      return sendSetting(reply, show(people, requireWay(people, person, request.params.way)));
    },
  });

const createPutWayRoute = ({ people }: PersonRouteParts): Route =>
  defineRoute({
    method: 'PUT',
    path: wayPath,
    ...own,
    summary: 'Create or replace a contact method; a changed address must be confirmed again',
    headers: { request: putConditionHeaders, response: withVersion },
    schema: {
      operationId: 'putWay',
      params: WayParams,
      body: WayBody,
      response: { 200: ShownWay, 201: ShownWay, 404: ErrorBody, 409: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const person = readPerson(people, request);
      const { way } = request.params;
      assertOwnMembers(request.body, WayBody, ShownWay);
      // Response members such as provenAt must not be stored.
      const { name: given, ...settings } = pickOwnMembers(request.body, WayBody);
      if (given !== undefined) assertNameOfPath(given, way);
      const name = requireWayName(person, way);
      const isNew = people.ways.find(name) === undefined;
      const expected = readPutCondition(request.headers, isNew);
      const known = await people.ways.put(name, settings, callerOf(request), expected);
      return sendSetting(reply.code(isNew ? 201 : 200), show(people, known));
    },
  });

const createDeleteWayRoute = ({ people }: PersonRouteParts): Route =>
  defineRoute({
    method: 'DELETE',
    path: wayPath,
    ...own,
    summary: 'Delete a contact method',
    headers: { request: ifMatchHeader },
    schema: {
      operationId: 'deleteWay',
      params: WayParams,
      response: { 200: ShownWay, 404: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const person = readPerson(people, request, true);
      const way = requireWay(people, person, request.params.way);
      const shown = show(people, way);
      await people.ways.delete(way.name, callerOf(request), readIfMatch(request.headers));
      return sendJson(reply, shown);
    },
  });

const createTestRoute = ({ people, codes, reach, clock, isQuiet }: PersonRouteParts): Route => {
  const queue = createQueue({ running: 4, waiting: 16, refusal: 'Too many tests are being sent' });
  const send = async (request: FastifyRequest, way: KnownWay, reply: FastifyReply) => {
    const { name, setting } = way;
    const code = codes.create({ name, createdAt: setting.createdAt, value: setting.value });
    const text = `This is a test of ${name}. Confirm the contact method under My contact methods with the code ${code}.`;
    const { isDelivered, response } = await queue.run(
      () => sendTest(people.definitionOf(way), clock, reach, text),
      createClientSignal(reply),
    );
    // Otherwise, a Reader could read any server that this server can reach.
    const isShown = principalOf(request).role === 'Admin';
    return { delivered: isDelivered, response: isShown ? response : response.replace(/\n.*/s, '') };
  };
  return defineRoute({
    method: 'POST',
    path: `${wayPath}/test`,
    ...own,
    summary: 'Send a test with a code to a contact method, and return the response of the receiver',
    schema: {
      operationId: 'testWay',
      params: WayParams,
      response: { 200: TestResult, 404: ErrorBody, 409: ErrorBody },
    },
    handler: async (request, reply) => {
      const person = readPerson(people, request);
      const way = requireWay(people, person, request.params.way);
      if (isQuiet) throw new HttpError('wrong-state', 'The setting quiet is on, so nothing is sent');
      const problem = people.findProblem(way);
      if (problem !== null) throw new HttpError('wrong-state', problem);
      return send(request, way, reply);
    },
  });
};

const createConfirmRoute = ({ people, codes, clock }: PersonRouteParts): Route =>
  defineRoute({
    method: 'POST',
    path: `${wayPath}/confirm`,
    ...own,
    summary: 'Confirm a contact method with the code from its test',
    headers: { response: withVersion },
    schema: {
      operationId: 'confirmWay',
      params: WayParams,
      body: Confirmation,
      response: { 200: ShownWay, 404: ErrorBody, 412: ErrorBody },
    },
    handler: async (request, reply) => {
      const person = readPerson(people, request);
      const { name, setting } = requireWay(people, person, request.params.way);
      if (!codes.isValid({ name, createdAt: setting.createdAt, value: setting.value }, request.body.code)) {
        throw new HttpError('invalid', 'code does not match any test from the last 24 hours: send another test');
      }
      const proven = { ...setting.value, provenAt: clock().getTime() };
      return sendSetting(
        reply,
        show(people, await people.ways.store(name, proven, callerOf(request), [setting.version])),
      );
    },
  });
