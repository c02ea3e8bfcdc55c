import Type, { type Static } from 'typebox';
import { defineShape } from '../../route.ts';

const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T08:30:00.000Z'] });

const time = (description: string) => Type.Union([Time, Type.Null()], { description });

const count = (description: string) => Type.Integer({ description, examples: [0] });

const ParkedAlert = defineShape('ParkedAlert', {
  id: Type.String({
    format: 'uuid',
    description: "The alert's id.",
    examples: ['019c1e5a-7c11-7b5e-a1f0-3d0a7d6e2c55'],
  }),
  time: Type.String({ ...Time, description: 'When it was parked.' }),
  reason: Type.String({ examples: ['the receiver responded 404'] }),
});

const DeliveryError = defineShape('DeliveryError', {
  time: Time,
  reason: Type.String({ examples: ['the connection was refused'] }),
});

export const DestinationState = defineShape('DestinationState', {
  destination: Type.String({ description: 'Its name in the config file.', examples: ['pager'] }),
  type: Type.String({ examples: ['webhook'] }),
  state: Type.Enum(['idle', 'delivering', 'waiting', 'disabled'], {
    type: 'string',
    description: '`waiting`: an alert failed and is tried again later. `disabled`: the receiver responded 410.',
  }),
  lagAlerts: count('Alerts in the log that the destination has not finished with.'),
  lagSeconds: Type.Number({
    examples: [0],
    description: 'Age of the oldest alert that is under way or failing; 0 if none is.',
  }),
  lastSuccess: time('Last delivery since the server was started.'),
  lastError: Type.Union([DeliveryError, Type.Null()], { description: 'Last failure since the server was started.' }),
  nextAttempt: time('When a failing alert is tried again.'),
  parked: count('Alerts that were given up.'),
  parkedAlerts: Type.Array(ParkedAlert, { description: 'The last 100 of them, oldest first.' }),
  dropped: count('Alerts that retention deleted before they were looked at, for this destination or not.'),
});
export type DestinationState = Static<typeof DestinationState>;

export const DeliveryList = defineShape('DeliveryList', {
  count: count('Destinations in `data`.'),
  data: Type.Array(DestinationState),
});

export const RetryResult = defineShape('RetryResult', {
  delivered: Type.Boolean({ examples: [true] }),
  reason: Type.Union([Type.String({ examples: ['the receiver responded 404'] }), Type.Null()], {
    description: 'Why it is still parked.',
  }),
});

export const RetryParams = Type.Object({
  destination: Type.String({ description: 'Name of a destination.' }),
  id: Type.String({ description: 'Id of a parked alert.' }),
});
