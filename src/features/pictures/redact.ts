import { cutText, shorten } from '../../lib/well-formed.ts';

/** Text that replaces hidden text. */
const hidden = '…';

/** Words for secrets, in the languages of programs and people. */
const secretName =
  'passw(?:or)?d|passwort|kennwort|mot de passe|contrase[nñ]a|wachtwoord|has[lł]o|пароль|passphrase|passcode|pwd|secret|token' +
  '|credential|authori[sz]ation|cookie|session[-_ ]?(?:id|key)' +
  '|(?:api|access|private|license|licence|encryption|ssh)[-_ ]?key';

/** Words for secrets that count only as a whole name or as the last part of a name. */
const shortSecretName = 'pass|psk|pw|pin|(?<=[_-])key';

/** Message that sshd writes about a login. It contains no secret. */
const failedLogin = 'password for (?:invalid user )?\\S+ from ';

/** Prefixes of tokens used by well-known services. */
const tokenPrefix =
  'gh[pousr]_|github_pat_|gl[a-z]{2,8}-|xox[a-z]-|xapp-|sk-|[sprw]k_(?:live|test)_|AKIA|ASIA|AIza|hf_|npm_|pypi-' +
  '|do[opr]_v1_|SG\\.|whsec_|sbk_|tk_|eyJ|ya29\\.';

const unitTypes = 'service|scope|timer|socket|mount|automount|slice|target|path|swap|device';

/**
 * Patterns of secrets, each with its replacement, in the order in which they are applied. Anyone can write a line of
 * the journal. Each pattern therefore begins at the start of a word, so that matching takes at most quadratic time.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  // Commands in messages from sudo, su, audit and cron, and the kernel's command line.
  [/\b(COMMAND|CMDLINE|PROCTITLE|CMD)\s*=.*$/i, `$1=${hidden}`],
  [/\b(CMD|CMDOUT|CMDEND)\s*\(.*$/, `$1 (${hidden})`],
  [/\b(command line:).*$/i, `$1 ${hidden}`],
  // A unit's description may be its command line.
  [new RegExp(`(?<!\\S)(\\S+\\.(?:${unitTypes})) - .*$`), '$1'],
  // Program arguments and options.
  [/(?<![^\s"'(=[])(\/(?:\S*\/)?s?bin\/[\w.+@-]+)["']?\s.*$/, `$1 ${hidden}`],
  [/(?<!\S)-{1,2}[A-Za-z].*$/, hidden],
  [/-----BEGIN.*$/, hidden],
  // The rest of a line that names a secret, because it is unclear where the secret ends.
  [new RegExp(`(?<![\\w.-])(?!${failedLogin})([\\w.-]*(?:${secretName})[\\w.-]*).*$`, 'i'), `$1 ${hidden}`],
  [new RegExp(`(?<![\\w.-])((?:[\\w.-]*[_.-])?(?:${shortSecretName}))["']?\\s*[=:].*$`, 'i'), `$1 ${hidden}`],
  [/\b(Bearer|Basic|Digest|Negotiate)\s+[\w.~+/=-]+/gi, `$1 ${hidden}`],
  // Addresses except scheme and host, because the paths of webhooks are secret, too.
  [/(\w:\/\/)(?:[^\s/]*@)?([^\s/?#"'@]+)[/?#][^\s"']*/g, `$1$2/${hidden}`],
  [/(\w:\/\/)[^\s/]+@/g, `$1${hidden}@`],
  [/(?<!\S)[^\s:@/]{1,64}:[^\s@]+@/g, `${hidden}@`],
  [/(\/(?:services|webhooks?|hooks|incoming|bot)\/)\S+/gi, `$1${hidden}`],
  [/([?&][\w.~-]+=)[^\s&"']+/g, `$1${hidden}`],
  [/\bbot\d+:[\w-]+/gi, hidden],
  [new RegExp(`(?<![\\w-])(?:${tokenPrefix})[\\w.~+/=-]*`, 'g'), hidden],
  // Base64, such as a line of a private key.
  [/(?<![\w+/])(?=[\w+/]*\d)(?=[\w+/]*[A-Z])[A-Za-z0-9+/]{40,}={0,2}/g, hidden],
  // Tokens, keys and UUIDs: long words with digits.
  [/(?<![\w+~-])(?=[\w+~-]*\d)(?=[\w+~-]*[A-Za-z])[\w+~-]{20,}={0,2}/g, hidden],
];

/** Control characters, and characters that change the text direction. */
const unshown = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/** Hides apparent secrets and command lines. Cuts the text to `maxLength` characters. */
export const redact = (text: string, maxLength: number): string => {
  // Cuts the line last, because a pattern may not match the beginning of a secret alone.
  const clean = cutText(text, 4 * maxLength)
    .replace(unshown, ' ')
    .trim();
  const kept = rules.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), clean);
  return shorten(kept, maxLength);
};
