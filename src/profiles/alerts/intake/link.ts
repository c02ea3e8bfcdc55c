const longestLink = 2048;
const mostLinks = 8;

/** Parts of a name that mark its value as secret, and how others of them end, e.g. `accesstoken`. */
const secretPart =
  /^(?:keys?|pwd|pass|sig|auth|oauth|authorization|code|otp|jwt|hmac|credentials?|passphrase|session)$/;
const secretEnd =
  /(?:tokens?|passwords?|passwd|secrets?|signature|api_?key|(?:access|auth|private|secret)key|authcode|sess(?:ion)?id)$/;

/** The first http or https URL among the values, without user info and secrets. */
export const toLink = (...values: unknown[]): string | undefined => {
  for (const value of values) {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
    if (url?.protocol !== 'http:' && url?.protocol !== 'https:') continue;
    Object.assign(url, { username: '', password: '' });
    url.search = withoutSecrets(url.search.slice(1));
    if (url.hash.split(/[#?&;]/).some(isSecret)) url.hash = '';
    if (url.href.length <= longestLink) return url.href;
    // A page without its parameters is better than none.
    Object.assign(url, { search: '', hash: '' });
    if (url.href.length <= longestLink) return url.href;
  }
  return undefined;
};

/** The links of an alert by their names; those that are no http or https URLs are left out. Undefined if none is left. */
export const toLinks = (named: Record<string, unknown>): Record<string, string> | undefined => {
  const links = Object.entries(named).flatMap(([name, value]): [string, string][] => {
    const link = toLink(value);
    return link === undefined ? [] : [[name, link]];
  });
  return links.length === 0 ? undefined : Object.fromEntries(links.slice(0, mostLinks));
};

/** Members of annotations and the like that are links, by what they lead to. */
export const listLinks = (fields: Record<string, unknown>): Record<string, unknown> => ({
  runbook: fields['runbook_url'] ?? fields['runbookUrl'] ?? fields['runbook'],
  dashboard: fields['dashboard_url'] ?? fields['dashboardURL'] ?? fields['dashboard'],
  panel: fields['panel_url'] ?? fields['panelURL'],
  silence: fields['silence_url'] ?? fields['silenceURL'],
});

/** A query whose other parameters stay as they are written. */
const withoutSecrets = (query: string): string =>
  query
    .split('&')
    .filter((parameter) => !isSecret(parameter))
    .join('&');

/** True if the name of a parameter marks its value as secret, or its value is a URL with secrets. */
const isSecret = (parameter: string): boolean => {
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
