import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { IconLink } from './icon-button.tsx';

/** Link to the screen Connect, for empty screens that need a sender. */
export const ConnectLink = () =>
  isMounted('createAlert') ? <IconLink icon="connect" label={text.connect} href="#/connect" /> : null;
