import { create, createButton } from '../ui/element.js';
import { beginSession, endSession, onSession, restoreSession, useToken } from './session.js';

const find = (id) => document.getElementById(id);
const parts = {
  bar: find('session'),
  dialog: find('login-dialog'),
  form: find('login-form'),
  tokenForm: find('token-form'),
  error: find('login-error'),
  close: find('login-close'),
};

/** The URL of the login route; undefined if none is mounted. */
let address;
let afterLogin = () => {};

/** Shows the session in the header of the page. `routes` are all routes, `server` is their base URL. */
export const startLogin = (routes, server) => {
  const logins = routes.filter(({ profile, method, path }) => profile === 'login' && method === 'POST' && path);
  const shortest = logins.toSorted((left, right) => left.path.length - right.path.length)[0];
  address = shortest && server + shortest.path;
  parts.form.hidden = address === undefined;
  const needsToken = routes.some(({ takesToken }) => takesToken);
  parts.bar.hidden = !needsToken;
  restoreSession();
};

/** Opens the dialog; `done` is called after a login. */
export const openLogin = (done = () => {}) => {
  afterLogin = done;
  parts.error.textContent = '';
  parts.dialog.showModal();
};

/** The session in words: `admin (Admin)`. */
export const describeSession = ({ name, role }) => (name ? `${name} (${role})` : 'a pasted token or key');

const logIn = async () => {
  const { username, password, keep } = parts.form.elements;
  const name = username.value;
  const isKept = keep.checked;
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ Username: name, Password: password.value }),
  }).catch(() => {
    throw new Error('The server does not respond. Is it still running?');
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(toRefusal(response, body));
  const { token, expiresIn, role } = body;
  if (typeof token !== 'string') throw new Error('The response of the login has no token.');
  const expiresAt = Date.now() + expiresIn * 1000;
  finish(() => beginSession({ name, role, token, expiresAt }, isKept));
};

const toRefusal = (response, { error }) => {
  const wait = response.headers.get('Retry-After');
  const message = typeof error === 'string' ? error : `The server responded with status ${response.status}.`;
  return wait ? `${message} (Try again in ${wait} s.)` : message;
};

const finish = (begin) => {
  parts.form.reset();
  parts.tokenForm.reset();
  parts.dialog.close();
  begin();
  afterLogin();
};

const showSession = (session) => {
  const hadFocus = parts.bar.contains(document.activeElement);
  if (session) {
    const who = create(
      'span',
      {},
      session.name ? 'Logged in as ' : 'Using ',
      create('b', {}, describeSession(session)),
    );
    parts.bar.replaceChildren(who, createButton({}, endSession, session.name ? 'Log out' : 'Forget it'));
  } else {
    parts.bar.replaceChildren(createButton({}, () => openLogin(), 'Log in'));
  }
  if (hadFocus) parts.bar.querySelector('button').focus();
};

onSession(showSession);

parts.form.addEventListener('submit', async (event) => {
  event.preventDefault();
  parts.error.textContent = '';
  const submit = parts.form.querySelector('button');
  submit.disabled = true;
  try {
    await logIn();
  } catch ({ message }) {
    parts.error.textContent = message;
  }
  submit.disabled = false;
});
parts.tokenForm.addEventListener('submit', (event) => {
  event.preventDefault();
  const token = parts.tokenForm.elements.token.value.trim();
  finish(() => useToken(token));
});
parts.close.addEventListener('click', () => parts.dialog.close());
// A password that was typed and not used is not kept.
parts.dialog.addEventListener('close', () => {
  parts.form.reset();
  parts.tokenForm.reset();
});
// A page that comes back from the browser's memory may hold a session that has ended in the console meanwhile.
addEventListener('pageshow', ({ persisted }) => persisted && restoreSession());
