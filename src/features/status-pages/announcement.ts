import Type, { type Static } from 'typebox';
import { defineList, defineShape } from '../../kit/shape.ts';
import { Time, toTimeText } from '../../kit/time.ts';
import { pageName } from './page.ts';
import { type AnnouncementState, announcementStates } from './words.ts';

/** Limits for announcements. */
export const maxAnnouncements = 1000;
export const maxOpen = 20;
export const maxUpdates = 50;

const state = Type.Enum(announcementStates, { type: 'string', examples: ['investigating'] });
const text = Type.String({
  minLength: 1,
  maxLength: 2000,
  pattern: '\\S',
  description: 'Text for readers of the page.',
  examples: ['We are looking into slow responses.'],
});
const title = Type.String({
  minLength: 1,
  maxLength: 150,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*\\S[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  examples: ['Slow responses'],
});

export const NewUpdate = Type.Object({ text, state }, { title: 'NewAnnouncementUpdate' });
export const NewAnnouncement = Type.Object({ page: pageName, title, text, state }, { title: 'NewAnnouncement' });

/** Update to an announcement. */
export interface AnnouncementUpdate {
  /** Position in the order of all updates. Tells which updates a subscriber has received. */
  number: number;
  at: number;
  state: AnnouncementState;
  text: string;
  by: string;
}

/** Announcement on a page. Times are Unix milliseconds. */
export interface Announcement {
  id: string;
  page: string;
  /** Id and number of the incident. They are not shown on the page. */
  incident: { id: string; number: number };
  title: string;
  /** State of the last update. */
  state: AnnouncementState;
  /** Updates, oldest first. */
  updates: readonly AnnouncementUpdate[];
}

export const ShownAnnouncement = defineShape('Announcement', {
  id: Type.String({ format: 'uuid', examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'] }),
  page: pageName,
  incident: Type.Integer({ description: 'Number of the incident.', examples: [412] }),
  title: Type.String({ examples: ['Slow responses'] }),
  state,
  updates: Type.Array(
    defineShape('AnnouncementUpdate', {
      at: Time,
      state,
      text: Type.String({ examples: ['We are looking into slow responses.'] }),
      by: Type.String({ description: 'Author of the update.', examples: ['admin'] }),
    }),
    { description: 'Oldest first.' },
  ),
});

export const AnnouncementList = defineList('AnnouncementList', 'Announcements', ShownAnnouncement, 'Newest first.');

/** Converts an announcement to the API's form. */
export const toShownAnnouncement = ({
  incident,
  updates,
  ...rest
}: Announcement): Static<typeof ShownAnnouncement> => ({
  ...rest,
  incident: incident.number,
  updates: updates.map(({ at, state: of, text: words, by }) => ({ at: toTimeText(at), state: of, text: words, by })),
});
