import { type HubSetting, hubDestination, readHubKey } from '../../kit/hub.ts';
import type { DestinationSettings } from './settings.ts';

/** Hours for which alerts wait for the hub: the maximum that a destination can have. */
const giveUpHours = 720;

/** Returns the destination that forwards all alerts to the hub. */
export const toHubDestination = (hub: HubSetting): DestinationSettings => {
  const { url, keyFile, ca } = hub;
  return {
    name: hubDestination,
    type: 'webhook',
    url: `${url.replace(/\/+$/, '')}/api/alert`,
    giveUpHours,
    ...(keyFile === undefined ? { token: readHubKey(hub) } : { tokenFile: keyFile }),
    ...(ca !== undefined && { caFile: ca }),
  };
};
