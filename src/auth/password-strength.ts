import { isPossiblePassword, maximumPasswordBytes } from './password.ts';

/** Minimum length in characters of a password that is set through the program. */
const minCharacters = 12;

/** Minimum number of different characters. Easily guessed parts do not count. */
const minDifferent = 6;

/** Words that guessers try first, in lower case. */
const guessed = [
  ...['password', 'passwort', 'passw0rd', 'p@ssw0rd', 'kennwort', 'signalbox', 'administrator', 'admin', 'reader'],
  ...['welcome', 'letmein', 'iloveyou', 'changeme', 'secret', 'default', 'monkey', 'dragon', 'football'],
  ...['qwertyuiop', 'qwertzuiop', 'asdfghjkl', 'zxcvbnm', 'yxcvbnm', 'qwerty', 'qwertz', 'qazwsx', '1q2w3e4r'],
  ...[
    'abcdefghijklmnopqrstuvwxyz',
    'abcdefgh',
    '1234567890',
    '0987654321',
    '123456789',
    '12345678',
    '123456',
    '654321',
  ],
];

/**
 * Returns the reason why a password is too weak for a user with this name. The reason is a clause without the password.
 * Undefined if the password is strong enough.
 */
export const findWeakness = (password: string, name: string): string | undefined => {
  const characters = [...password];
  if (characters.length < minCharacters) return `must have at least ${minCharacters} characters`;
  if (!isPossiblePassword(password)) return `must have at most ${maximumPasswordBytes} bytes`;
  if (/\p{Cc}/u.test(password)) return 'must not contain control characters';
  const rest = [...guessed, ...(name.length > 2 ? [name.toLowerCase()] : [])].reduce(
    (text, word) => text.replaceAll(word, ''),
    password.toLowerCase(),
  );
  return new Set(rest).size < minDifferent
    ? 'is easily guessed: use several words, or a password from a password manager'
    : undefined;
};
