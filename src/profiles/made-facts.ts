import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { MadeSetting } from './offers.ts';
import { nullable } from './route.ts';

type Made = Pick<MadeSetting, 'by' | 'at' | 'version'>;

/** What routes say of who has changed a setting last; null for one of the config file. */
export const madeFacts = {
  updatedBy: nullable(Type.String({ examples: ['admin'] }), 'Who has changed it last; `null` in the config file.'),
  updatedAt: nullable(Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] }), 'When that was.'),
  version: nullable(Type.Integer({ examples: [12] }), 'Its version, as the `ETag` has it.'),
};

/** The values of `madeFacts`; `made` is undefined for a setting of the config file. */
export const toMadeFacts = (made: Made | undefined) => ({
  updatedBy: made?.by ?? null,
  updatedAt: made ? new Date(made.at).toISOString() : null,
  version: made?.version ?? null,
});

/** The reply with the setting's version as its ETag, if it was made at run time. */
export const setMadeVersion = (reply: FastifyReply, made: Made | undefined): FastifyReply =>
  made ? reply.header('etag', `"${made.version}"`) : reply;
