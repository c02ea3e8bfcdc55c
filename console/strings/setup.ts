export const setupTexts = {
  hint: 'Choose a name and a password. This account administers the server.',
  name: 'User name',
  nameHint: 'Up to 64 letters, digits, ".", "_", "@" and "-".',
  password: 'Password',
  passwordHint: 'At least 12 characters that are not easily guessed: several words, for example.',
  action: 'Create the account',
  running: 'Creating…',
  made: (name: string) => `Welcome, ${name}. Connect what sends your alerts.`,
  refused: 'This link cannot be used',
  noCode: 'This page needs the whole link',
  noCodeHint:
    'It is in the start message of the server, and ends in a code. Or run signalbox create-user while the server is stopped.',
  isMade: 'The account has been created',
  isMadeHint: 'Log in with the name and the password that you have chosen.',
};
