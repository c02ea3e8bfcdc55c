import type { Task } from 'signalbox/client';
import { text } from '../strings/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { LongText } from '../ui/long-text.tsx';
import { conflict, fields } from './conflict.ts';

const words = text.tasks;

type Field = (typeof fields)[number];

const labels: Record<Field, string> = {
  Title: words.title,
  Description: words.description,
  Priority: words.priority,
  Status: words.status,
};

/** Maximum number of characters of a description before it is cut. */
const mostShown = 300;

/** Dialog that shows both versions of a task and asks which version to keep. Escape returns to editing. */
export const ConflictDialog = () => {
  if (!conflict.value) return null;
  const { before, changes, theirs, answer } = conflict.value;
  const mine = changes && { ...theirs, ...changes };
  return (
    <Dialog title={words.conflict(`${theirs.Id}`)} kind="conflict" onClose={() => answer('neither')}>
      <p>{changes ? words.conflictHint : words.conflictOfDeletion}</p>
      <table>
        <thead>
          <tr>
            <td />
            <th scope="col">{words.mine}</th>
            <th scope="col">{words.theirs}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map((field) => (
            <tr key={field}>
              <th scope="row">{labels[field]}</th>
              <td>
                {mine ? <LongText value={toText(mine, field)} most={mostShown} /> : words.deletedByMe}
                <Mark isShown={changes?.[field] !== undefined && changes[field] !== before[field]} />
              </td>
              <td>
                <LongText value={toText(theirs, field)} most={mostShown} />
                <Mark isShown={theirs[field] !== before[field]} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="actions">
        <button type="button" class="primary" onClick={() => answer('mine')}>
          {words.keepMine}
        </button>
        <button type="button" onClick={() => answer('theirs')}>
          {words.keepTheirs}
        </button>
      </div>
    </Dialog>
  );
};

const Mark = ({ isShown }: { isShown: boolean }) => (isShown ? <strong class="changed">{words.changed}</strong> : null);

const toText = (task: Task, field: Field): string => {
  if (field === 'Priority') return words.priorities[task.Priority];
  if (field === 'Status') return words.statuses[task.Status];
  return task[field] || words.emptyText;
};
