export const setupTexts = {
  hint: 'Choose a name and a password. This account administers the server.',
  name: 'User name',
  nameHint: 'Up to 64 letters, digits, ".", "_", "@" and "-".',
  password: 'Password',
  passwordHint: 'At least 12 characters that are not easily guessed: several words, for example.',
  action: 'Create account',
  running: 'Creating…',
  welcome: (name: string) => `Welcome, ${name}. Connect the senders of your alerts.`,
  refused: 'This link is not valid',
  noCode: 'This link is incomplete',
  noCodeHint:
    'Open the full link from the start message of the server; the link ends in a code. Or run signalbox create-user while the server is stopped.',
  exists: 'The account has been created',
  existsHint: 'Log in with your user name and password.',
};
