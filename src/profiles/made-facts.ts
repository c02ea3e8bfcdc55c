import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import type { MadeSetting } from './offers.ts';
import { nullable, Time, toTimeText } from './route.ts';

type Made = Pick<MadeSetting, 'by' | 'at' | 'version'>;

/** Where a setting comes from, which the config file or somebody at run time may have defined. */
export const madeOrigin = Type.Enum(['config', 'made'], {
  type: 'string',
  description: '`config`: in the config file, where it is changed.',
  examples: ['made'],
});

/** What routes say of who has changed a setting last; null for one of the config file. */
export const madeFacts = {
  updatedBy: nullable(Type.String({ examples: ['admin'] }), 'Who has changed it last; `null` in the config file.'),
  updatedAt: nullable(Time, 'When that was.'),
  version: nullable(Type.Integer({ examples: [12] }), 'Its version, as the `ETag` has it.'),
};

/** The values of `madeFacts`; `made` is undefined for a setting of the config file. */
export const toMadeFacts = (made: Made | undefined) => ({
  updatedBy: made?.by ?? null,
  updatedAt: made ? toTimeText(made.at) : null,
  version: made?.version ?? null,
});

/** The reply with the setting's version as its ETag, if it was made at run time. */
export const setMadeVersion = (reply: FastifyReply, made: Made | undefined): FastifyReply =>
  made ? reply.header('etag', `"${made.version}"`) : reply;
