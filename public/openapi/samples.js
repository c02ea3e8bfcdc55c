import { compactJson, isJson } from '../ui/json.js';

/**
 * A request, as `toCall` returns it, in the words of a language. The token is always the placeholder `$TOKEN`.
 */

/** The languages and their names. */
export const languages = { curl: 'curl', powershell: 'PowerShell', fetch: 'fetch' };

export const toSample = (language, call) => writers[language](call);

/** Most characters of a body on one line. */
const shortBody = 60;

const toCurl = ({ method, url, type, body, needsToken, isStream }) =>
  [
    ['curl', isStream && '-N', method !== 'GET' && `-X ${method}`, quote(url)].filter(Boolean).join(' '),
    ...(needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(body ? [`-H 'Content-Type: ${type}'`, `-d ${quote(shorten(body))}`] : []),
  ].join(' \\\n  ');

const toPowerShell = (call) => {
  const { method, url, type, body, needsToken, isStream } = call;
  // Invoke-RestMethod shows nothing before the response has ended.
  if (isStream) return `curl.exe ${toCurl(call).slice('curl '.length).replaceAll(' \\\n', ' `\n')}`;
  return [
    `Invoke-RestMethod ${method === 'GET' ? '' : `-Method ${toTitle(method)} `}-Uri ${quotePowerShell(url)}`,
    ...(needsToken ? ['-Headers @{ Authorization = "Bearer $TOKEN" }'] : []),
    ...(body ? [`-ContentType '${type}; charset=utf-8'`, `-Body ${quotePowerShell(shorten(body))}`] : []),
  ].join(' `\n  ');
};

const toFetch = ({ method, url, type, body, needsToken, isStream, returnsJson }) => {
  const headers = [body && `'Content-Type': '${type}'`, needsToken && `Authorization: \`Bearer \${TOKEN}\``].filter(
    Boolean,
  );
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} },`] : []),
    ...(body ? [`body: ${toScriptText(body)},`] : []),
  ];
  const lines = options.map((line) => `  ${line.replaceAll('\n', '\n  ')}\n`).join('');
  const request = `const response = await fetch(${quoteScript(url)}${lines && `, {\n${lines}}`});`;
  return `${request}\n${isStream ? readStream : `console.log(await response.${returnsJson ? 'json' : 'text'}());`}`;
};

const readStream = `for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  console.log(text);
}`;

const writers = { curl: toCurl, powershell: toPowerShell, fetch: toFetch };

/** JSON on one line if that is short; any other text unchanged. */
const shorten = (text) => {
  const short = isJson(text) ? compactJson(text) : text;
  return short.length <= shortBody ? short : text;
};

/** A script's expression for the body. */
const toScriptText = (text) => (isJson(text) ? `JSON.stringify(${shorten(text)})` : quoteScript(text));

const quote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

/** PowerShell ends a text at typographic quotes too. */
const quotePowerShell = (text) => `'${text.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`;

const quoteScript = (text) => `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

const toTitle = (method) => method[0] + method.slice(1).toLowerCase();
