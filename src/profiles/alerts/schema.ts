import Type, { type Static } from 'typebox';

export const AlertBody = Type.Object(
  {
    source: Type.Optional(Type.String()),
    level: Type.Optional(Type.String({ description: 'Any text, e.g. `ERROR`.' })),
    message: Type.Optional(Type.String()),
    hostname: Type.Optional(Type.String()),
  },
  { description: 'At least one of the fields is not empty.' },
);

export type AlertBody = Static<typeof AlertBody>;

export const AlertReceipt = Type.Object({
  received: Type.Literal(true),
  id: Type.String({ format: 'uuid', description: "The record's id in the log." }),
});

export const Alert = Type.Object({
  timestamp: Type.String({ description: 'Local time of receipt, `yyyy-MM-ddTHH:mm:ss`.' }),
  source: Type.String(),
  level: Type.String(),
  message: Type.String(),
  hostname: Type.String(),
  receivedAt: Type.String({ description: 'Local time of receipt, `HH:mm:ss`.' }),
});

export type Alert = Static<typeof Alert>;

export const AlertQuery = Type.Object({
  count: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 10,
    description: 'How many of the last records are looked at.',
  }),
  level: Type.Optional(Type.String({ description: 'Shows only those with exactly this level.' })),
});

export const AlertList = Type.Object({
  count: Type.Integer({ description: 'How many alerts `data` holds.' }),
  data: Type.Array(Alert, { description: 'Oldest first.' }),
});

export const Readiness = Type.Object({ status: Type.Literal('ready') });
