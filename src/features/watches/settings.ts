import Type from 'typebox';
import { hubSettings } from '../../kit/hub.ts';
import { reachSettings } from '../../kit/reach.ts';
import { StrictWatch } from './schema.ts';

export const watchSettings = {
  watches: Type.Array(StrictWatch, {
    default: [],
    maxItems: 1000,
    description: 'Watches, in addition to those created at run time.',
  }),
  defaultWatches: Type.Boolean({
    default: true,
    description: "Watch this machine's disks, memory and systemd units.",
  }),
  ...reachSettings,
  ...hubSettings,
};
