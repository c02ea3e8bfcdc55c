import { useEffect, useRef } from 'preact/hooks';
import type { Incident } from 'signalbox/client';
import { singleKeys } from '../preferences.ts';
import { isTyping } from '../ui/row-shortcuts.ts';
import { acknowledge, createTask, question, resolve } from './actions.ts';

const actions: Record<string, (incidents: readonly Incident[]) => void> = {
  a: (incidents) => void acknowledge(incidents),
  r: (incidents) => void resolve(incidents.filter(({ state }) => state !== 'resolved')),
  s: (incidents) => {
    question.value = { kind: 'snooze', incidents };
  },
  c: (incidents) => {
    question.value = { kind: 'comment', incidents: incidents.slice(0, 1) };
  },
  t: ([incident]) => void (incident?.task === null && createTask(incident)),
};

/**
 * Handles single-key actions on the incidents that `find` returns. `find` receives true if an incident is open in a
 * dialog. Actions are disabled while another dialog is open.
 */
export const useIncidentShortcuts = (find: (isOpen: boolean) => readonly Incident[]): void => {
  const latest = useRef(find);
  latest.current = find;
  useEffect(() => {
    const handle = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      const action = actions[key];
      if (!action || !singleKeys.value || ctrlKey || metaKey || altKey || defaultPrevented || isTyping(target)) return;
      const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
      if (dialog && !dialog.querySelector('.incident')) return;
      const incidents = latest.current(dialog !== undefined);
      if (incidents.length === 0) return;
      event.preventDefault();
      action(incidents);
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, []);
};
