import Type from 'typebox';

const GiB = 1024 ** 3;

export const outboxSettings = {
  outboxRetainBytes: Type.Integer({
    minimum: 0,
    default: GiB,
    description: 'Maximum bytes of closed log files kept for destinations with undelivered alerts.',
  }),
};
