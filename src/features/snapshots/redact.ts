import { cutText } from '../../lib/well-formed.ts';

/** Stands for what is not recorded. */
const hidden = '…';

/** Words for secrets, in languages of programs and people. */
const secretName = [
  ...['passw(?:or)?d', 'passwort', 'kennwort', 'mot de passe', 'contrase[nñ]a', 'wachtwoord', 'has[lł]o', 'пароль'],
  ...['passphrase', 'passcode', 'pwd', 'secret', 'token', 'credential', 'authori[sz]ation', 'cookie'],
  ...['session[-_ ]?(?:id|key)', '(?:api|access|private|license|licence|encryption|ssh)[-_ ]?key'],
].join('|');

/** Names that are secret only as a whole, or at the end of another one. */
const shortSecretName = 'pass|psk|pw|pin|(?<=[_-])key';

/** What sshd says about a login, without a secret. */
const failedLogin = 'password for (?:invalid user )?\\S+ from ';

/** How tokens of well-known services begin. */
const tokenStart = [
  ...[
    'gh[pousr]_',
    'github_pat_',
    'gl[a-z]{2,8}-',
    'xox[a-z]-',
    'xapp-',
    'sk-',
    '[sprw]k_(?:live|test)_',
    'AKIA',
    'ASIA',
  ],
  ...['AIza', 'hf_', 'npm_', 'pypi-', 'do[opr]_v1_', 'SG\\.', 'whsec_', 'sbk_', 'tk_', 'eyJ', 'ya29\\.'],
].join('|');

const unitTypes = 'service|scope|timer|socket|mount|automount|slice|target|path|swap|device';

/**
 * In their order: what a line must not have, and what it has in its place. Lines may come from anybody, so each pattern begins
 * where a word does: none takes more than the square of a line's length.
 */
const rules: readonly (readonly [RegExp, string])[] = [
  // sudo, su, audit and cron say which command somebody ran; the kernel says how it was started.
  [/\b(COMMAND|CMDLINE|PROCTITLE|CMD)\s*=.*$/i, `$1=${hidden}`],
  [/\b(CMD|CMDOUT|CMDEND)\s*\(.*$/, `$1 (${hidden})`],
  [/\b(command line:).*$/i, `$1 ${hidden}`],
  // The description of a unit may be what it runs.
  [new RegExp(`(?<!\\S)(\\S+\\.(?:${unitTypes})) - .*$`), '$1'],
  // A program with arguments, and any options.
  [/(?<![^\s"'(=[])(\/(?:\S*\/)?s?bin\/[\w.+@-]+)["']?\s.*$/, `$1 ${hidden}`],
  [/(?<!\S)-{1,2}[A-Za-z].*$/, hidden],
  [/-----BEGIN.*$/, hidden],
  // The rest of a line that names a secret: where it ends, nobody knows.
  [new RegExp(`(?<![\\w.-])(?!${failedLogin})([\\w.-]*(?:${secretName})[\\w.-]*).*$`, 'i'), `$1 ${hidden}`],
  [new RegExp(`(?<![\\w.-])((?:[\\w.-]*[_.-])?(?:${shortSecretName}))["']?\\s*[=:].*$`, 'i'), `$1 ${hidden}`],
  [/\b(Bearer|Basic|Digest|Negotiate)\s+[\w.~+/=-]+/gi, `$1 ${hidden}`],
  // Of addresses only scheme and host are kept: paths of webhooks are secret, too.
  [/(\w:\/\/)(?:[^\s/]*@)?([^\s/?#"'@]+)[/?#][^\s"']*/g, `$1$2/${hidden}`],
  [/(\w:\/\/)[^\s/]+@/g, `$1${hidden}@`],
  [/(?<!\S)[^\s:@/]{1,64}:[^\s@]+@/g, `${hidden}@`],
  [/(\/(?:services|webhooks?|hooks|incoming|bot)\/)\S+/gi, `$1${hidden}`],
  [/([?&][\w.~-]+=)[^\s&"']+/g, `$1${hidden}`],
  [/\bbot\d+:[\w-]+/gi, hidden],
  [new RegExp(`(?<![\\w-])(?:${tokenStart})[\\w.~+/=-]*`, 'g'), hidden],
  // Base64, such as a line of a private key.
  [/(?<![\w+/])(?=[\w+/]*\d)(?=[\w+/]*[A-Z])[A-Za-z0-9+/]{40,}={0,2}/g, hidden],
  // Tokens and keys are long and have digits, as UUIDs do.
  [/(?<![\w+~-])(?=[\w+~-]*\d)(?=[\w+~-]*[A-Za-z])[\w+~-]{20,}={0,2}/g, hidden],
];

/** Control characters, and those that turn the direction of what follows. */
const unshown = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/** A text without what looks like a secret or a command line; at most so many characters of it. */
export const redact = (text: string, most: number): string => {
  // A secret that is cut may not look like one any more, so the line is cut last.
  const clean = cutText(text, 4 * most)
    .replace(unshown, ' ')
    .trim();
  const kept = rules.reduce((line, [pattern, replacement]) => line.replace(pattern, replacement), clean);
  return kept.length <= most ? kept : `${cutText(kept, most - 1)}${hidden}`;
};
