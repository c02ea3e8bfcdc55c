import { toCall, toStartValues } from '../openapi/call.js';
import { create, createButton, createUnseen } from '../ui/element.js';
import { createInputs } from './inputs.js';
import { describeSession, openLogin } from './login.js';
import { createResult } from './result.js';
import { send } from './send.js';
import { endSession, getSession, onSession } from './session.js';

/**
 * The form that sends a call of the route, and the response. Only a press of Send sends anything; Enter in a field does
 * it for GET alone, which changes nothing. `showCall` shows the call elsewhere after each change of the form.
 */
export const createTryPanel = (route, server, showCall) => {
  const name = `${route.method} ${route.path}`;
  const result = createResult(name);
  const inputs = createInputs(route, toStartValues(route), () => showCall(toCall(route, inputs.read(), server)));
  let running;

  const start = async () => {
    if (running || !form.reportValidity()) return;
    running = new AbortController();
    showRunning(true);
    const session = getSession();
    const options = { token: route.takesToken ? session?.token : undefined, signal: running.signal };
    try {
      result.showWaiting();
      await run(toCall(route, inputs.read(), server), options, session);
    } catch {
      result.showFailure();
    }
    running = undefined;
    showRunning(false);
  };

  const run = async (call, options, session) => {
    const onHead = (head) => {
      result.showHead(head);
      if (head.status === 401 && options.token && session.name && session === getSession()) endSession();
    };
    result.showEnd(await send(call, { ...options, onHead, onText: result.addText }));
  };

  const showRunning = (isRunning) => {
    const hadFocus = document.activeElement === stop;
    sendButton.setAttribute('aria-disabled', String(isRunning));
    stop.hidden = !isRunning;
    if (hadFocus) sendButton.focus();
  };

  const isSafe = route.method === 'GET';
  const tone = route.method === 'DELETE' ? 'primary danger' : 'primary';
  const sendButton = createButton({ class: tone }, start, 'Send', createUnseen(` ${name}`));
  const stop = createButton({ hidden: '' }, () => running?.abort(), 'Stop');
  const reset = createButton({}, () => inputs.write(toStartValues(route)), 'Reset');
  const hint = create('p', { class: 'hint' });
  const buttons = create('div', { class: 'buttons' }, sendButton, stop, ...(inputs.isEmpty ? [] : [reset]), hint);
  const form = create('form', { 'aria-label': `Try ${name}` }, ...inputs.elements, buttons);
  form.addEventListener('submit', (event) => event.preventDefault());
  // A form with several fields and no button of type submit is not submitted by Enter.
  form.addEventListener('keydown', (event) => {
    if (!isSafe || event.key !== 'Enter' || event.isComposing || !event.target.matches('input')) return;
    event.preventDefault();
    start();
  });
  onSession((session) => hint.replaceChildren(...toHint(route, session, sendButton)));
  return create('div', { class: 'panel' }, form, result.element);
};

/** Whether the call is sent with a token, and what it still needs. */
const toHint = ({ takesToken, access, takesKey }, session, sendButton) => {
  if (!takesToken) return ['Sent without a token.'];
  if (session) {
    const isTooLow = access === 'admin' && session.role === 'Reader';
    return [
      `Sent with the token of ${describeSession(session)}.${isTooLow ? ' This route needs the role Admin.' : ''}`,
    ];
  }
  const need =
    access === 'open'
      ? 'Sent without a token; with one, it offers more.'
      : `Needs a token${takesKey ? ' or key' : ''}.`;
  return [`${need} `, createButton({ class: 'small' }, () => openLogin(() => sendButton.focus()), 'Log in')];
};
