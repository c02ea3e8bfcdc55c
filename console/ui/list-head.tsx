import { text } from '../strings/index.ts';
import { Icon } from './icon.tsx';

/** How much a list shows; read out when it changes. */
export const ListCount = ({ children }: { children: string }) => (
  <p class="hint" role="status">
    {children}
  </p>
);

/** How much a list shows, and a button that reads it again. */
export const ListHead = ({ count, onRefresh }: { count: string; onRefresh: () => void }) => (
  <div class="list-head">
    <ListCount>{count}</ListCount>
    <button type="button" onClick={onRefresh}>
      <Icon name="repeat" /> {text.refresh}
    </button>
  </div>
);
