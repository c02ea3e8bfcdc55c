import type { Static } from 'typebox';
import Type from 'typebox';
import { defineShape } from '../route.ts';

const fields = {
  source: Type.String({ examples: ['backup'] }),
  level: Type.String({ description: 'Any text.', examples: ['ERROR'] }),
  message: Type.String({ examples: ['disk is full'] }),
  hostname: Type.String({ examples: ['web-1'] }),
};

/** At least one of the first four must not be empty; the others are stored with them. */
export const AlertBody = Type.Partial(
  Type.Object({
    ...fields,
    key: Type.String({
      description:
        'What the alert is about, by your own choice: an alert that is resolved ends those that fire with its key.',
      examples: ['backup/web-1'],
    }),
    status: Type.String({
      description: '`firing` or `resolved`; with a `key`, `firing` by default. Other texts count as absent.',
      examples: ['firing'],
    }),
    labels: Type.Object({}, { additionalProperties: true, examples: [{ team: 'db' }] }),
    link: Type.String({
      description: 'An http or https URL; others are not kept.',
      examples: ['https://backup.example.org/jobs/7'],
    }),
  }),
  { title: 'NewAlert' },
);
export type AlertBody = Static<typeof AlertBody>;

const id = '25d37939-e0b7-418e-85b2-0446abab8810';

export const AlertReceipt = defineShape('AlertReceipt', {
  received: Type.Literal(true),
  id: Type.String({ format: 'uuid', description: "The record's id in the log.", examples: [id] }),
});

export const Alert = defineShape('Alert', {
  timestamp: Type.String({ description: 'Local time of receipt.', examples: ['2026-01-31T09:30:00'] }),
  ...fields,
  receivedAt: Type.String({ description: 'Local time of receipt.', examples: ['09:30:00'] }),
});

export type Alert = Static<typeof Alert>;

export const AlertQuery = Type.Object({
  count: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 10,
    description: 'How many of the last records to search.',
  }),
  level: Type.Optional(Type.String({ description: 'Only alerts with exactly this level.', examples: ['ERROR'] })),
});

export const AlertList = defineShape('AlertList', {
  count: Type.Integer({ description: 'Alerts in `data`.', examples: [1] }),
  data: Type.Array(Alert, { description: 'Oldest first.' }),
});

export const Readiness = defineShape('Readiness', {
  status: Type.Literal('ready'),
  unavailable: Type.Optional(
    Type.Array(Type.String({ examples: ['tasks'] }), {
      description: 'What cannot be used at the moment; absent if all can. Alerts are stored nevertheless.',
    }),
  ),
});
