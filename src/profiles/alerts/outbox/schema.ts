import Type, { type Static } from 'typebox';
import { defineShape } from '../../route.ts';

const time = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description,
    examples: ['2026-01-31T08:30:00.000Z'],
  });

const count = (description: string) => Type.Integer({ description, examples: [0] });

const ParkedAlert = defineShape('ParkedAlert', {
  id: Type.String({ format: 'uuid', description: "The alert's id." }),
  time: Type.String({ format: 'date-time', description: 'When it was parked.' }),
  reason: Type.String({ examples: ['the receiver responded 404'] }),
});

const DeliveryError = defineShape('DeliveryError', {
  time: Type.String({ format: 'date-time' }),
  reason: Type.String({ examples: ['the connection was refused'] }),
});

export const DestinationState = defineShape('DestinationState', {
  destination: Type.String({ description: 'Its name in the config file.', examples: ['pager'] }),
  type: Type.String({ examples: ['webhook'] }),
  state: Type.Enum(['idle', 'delivering', 'waiting', 'disabled'], {
    description: '`waiting`: an alert failed and is tried again later. `disabled`: the receiver responded 410.',
  }),
  lagAlerts: count('Alerts in the log that the destination has not finished with.'),
  lagSeconds: Type.Number({ description: 'Age of the oldest alert that is under way or failing; 0 if none is.' }),
  lastSuccess: time('Last delivery since the server was started.'),
  lastError: Type.Union([DeliveryError, Type.Null()], { description: 'Last failure since the server was started.' }),
  nextAttempt: time('When a failing alert is tried again.'),
  parked: count('Alerts that were given up.'),
  parkedAlerts: Type.Array(ParkedAlert, { description: 'The last 100 of them, oldest first.' }),
  dropped: count('Alerts that retention deleted before they were delivered.'),
});
export type DestinationState = Static<typeof DestinationState>;

export const DeliveryList = defineShape('DeliveryList', {
  count: count('Destinations in `data`.'),
  data: Type.Array(DestinationState),
});

export const RetryResult = defineShape('RetryResult', {
  delivered: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it is still parked.' }),
});

export const RetryParams = Type.Object({
  destination: Type.String({ description: 'Name of a destination.' }),
  id: Type.String({ description: 'Id of a parked alert.' }),
});
