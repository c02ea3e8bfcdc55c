import { counted } from './count.ts';

export const instanceTexts = {
  name: 'Name',
  version: 'Version',
  seen: 'Last seen',
  instance: 'Process',
  here: 'this instance',
  live: 'Live',
  gone: 'Not seen',
  state: 'State',
  shown: (count: string) => counted(count, 'instance'),
};
