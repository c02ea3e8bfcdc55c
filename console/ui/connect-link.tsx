import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconLink } from './icon-button.tsx';

/** Leads to where senders are connected, from screens that are empty without them. */
export const ConnectLink = () =>
  isMounted('createAlert') ? <IconLink icon="connect" label={text.connect} href="#/connect" /> : null;
