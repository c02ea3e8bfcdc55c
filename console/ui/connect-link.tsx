import { isMounted } from '../routes.ts';
import { text } from '../strings/index.ts';
import { Icon } from './icon.tsx';

/** Leads to where senders are connected, from screens that are empty without them. */
export const ConnectLink = () =>
  isMounted('createAlert') ? (
    <a class="button" href="#/connect">
      <Icon name="connect" /> {text.connect}
    </a>
  ) : null;
