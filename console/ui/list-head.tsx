import { text } from '../strings/index.ts';
import { IconButton } from './icon-button.tsx';

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
    <IconButton icon="repeat" label={text.refresh} onClick={onRefresh} />
  </div>
);
