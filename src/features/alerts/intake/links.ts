const maxLinkLength = 2048;
const maxLinks = 8;

/**
 * Words that mark a parameter as secret if its name contains them. They may also be the end of a word such as
 * `accesstoken`.
 */
const secretPart =
  /^(?:keys?|pwd|pass|sig|auth|oauth|authorization|code|otp|jwt|hmac|credentials?|passphrase|session)$/;
const secretEnd =
  /(?:tokens?|passwords?|passwd|secrets?|signature|api_?key|(?:access|auth|private|secret)key|authcode|sess(?:ion)?id)$/;

/** Returns the first http or https URL among the values. Removes user info and secrets. */
export const toLink = (...values: unknown[]): string | undefined => {
  for (const value of values) {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') continue;
    Object.assign(url, { username: '', password: '' });
    url.search = withoutSecrets(url.search.slice(1));
    if (url.hash.split(/[#?&;]/).some(isSecretParameter)) url.hash = '';
    if (url.href.length <= maxLinkLength) return url.href;
    // A link without parameters is better than none.
    Object.assign(url, { search: '', hash: '' });
    if (url.href.length <= maxLinkLength) return url.href;
  }
  return undefined;
};

/** Returns the http and https URLs among the values, by name. Undefined if there are none. */
export const toLinks = (named: Record<string, unknown>): Record<string, string> | undefined => {
  const links: [string, string][] = [];
  for (const [name, value] of Object.entries(named)) {
    const link = value === undefined ? undefined : toLink(value);
    if (link !== undefined && links.length < maxLinks) links.push([name, link]);
  }
  return links.length === 0 ? undefined : Object.fromEntries(links);
};

/** Picks the links from annotations or other fields, by purpose. */
export const listLinks = (fields: Record<string, unknown>): Record<string, unknown> => ({
  runbook: fields['runbook_url'] ?? fields['runbookUrl'] ?? fields['runbook'],
  dashboard: fields['dashboard_url'] ?? fields['dashboardURL'] ?? fields['dashboard'],
  panel: fields['panel_url'] ?? fields['panelURL'],
  silence: fields['silence_url'] ?? fields['silenceURL'],
});

/** Removes secret parameters from a query. Keeps the spelling of the other parameters. */
const withoutSecrets = (query: string): string =>
  query
    .split('&')
    .filter((parameter) => !isSecretParameter(parameter))
    .join('&');

/** True if the name of a parameter marks its value as secret, or if its value is a URL that contains secrets. */
const isSecretParameter = (parameter: string): boolean => {
  const [name = '', ...rest] = parameter.split('=');
  const value = decode(rest.join('='));
  const parts = decode(name)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  if (rest.length > 0 && parts.some((part) => secretPart.test(part) || secretEnd.test(part))) return true;
  return /^https?:\/\//i.test(value) && URL.canParse(value) && toLink(value) !== new URL(value).href;
};

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
};
