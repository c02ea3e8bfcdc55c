import { text } from '../strings/index.ts';
import { IconButton } from './icon-button.tsx';

/** Number of rows. Screen readers announce changes. */
export const ListCount = ({ children }: { children: string }) => (
  <p class="hint" role="status">
    {children}
  </p>
);

/** Number of rows, with a refresh button. */
export const ListHead = ({ count, onRefresh }: { count: string; onRefresh: () => void }) => (
  <div class="list-head">
    <ListCount>{count}</ListCount>
    <IconButton icon="repeat" label={text.refresh} onClick={onRefresh} />
  </div>
);
