import { alertmanager } from './alertmanager.ts';
import { apprise } from './apprise.ts';
import { gotify } from './gotify.ts';
import { ntfy } from './ntfy.ts';
import { slack } from './slack.ts';
import type { DestinationType } from './type.ts';
import { webhook } from './webhook.ts';

/** Every type of destination: one line and one file for each. */
export const destinationTypes: readonly DestinationType[] = [webhook, ntfy, gotify, slack, apprise, alertmanager];
