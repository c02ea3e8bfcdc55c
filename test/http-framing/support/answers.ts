export interface RawAnswer {
  status: number;
  /** By name in lower case. */
  headers: Map<string, string>;
  body: string;
}

/** The whole answers at the start of the text, without interim ones, and what is left behind them. */
export const parseAnswers = (text: string): { answers: RawAnswer[]; rest: string } => {
  const answers: RawAnswer[] = [];
  let rest = text;
  for (let next = parseAnswer(rest); next !== undefined; next = parseAnswer(rest)) {
    if (next.answer.status >= 200) answers.push(next.answer);
    rest = next.rest;
  }
  return { answers, rest };
};

const parseAnswer = (text: string): { answer: RawAnswer; rest: string } | undefined => {
  const end = text.indexOf('\r\n\r\n');
  const [statusLine = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (end < 0 || Number.isNaN(status)) return undefined;
  const headers = new Map(lines.map(splitHeader));
  const content = readContent(text.slice(end + 4), status, headers);
  return content && { answer: { status, headers, body: content.body }, rest: content.rest };
};

const splitHeader = (line: string): [string, string] => {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
};

const readContent = (
  text: string,
  status: number,
  headers: Map<string, string>,
): { body: string; rest: string } | undefined => {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(text);
  const length = status < 200 || status === 204 ? 0 : Number(headers.get('content-length'));
  return text.length < length ? undefined : { body: text.slice(0, length), rest: text.slice(length) };
};

const readChunks = (text: string): { body: string; rest: string } | undefined => {
  const end = text.indexOf('\r\n');
  const length = Number.parseInt(text.slice(0, Math.max(0, end)), 16);
  const data = text.slice(end + 2, end + 2 + length);
  const rest = text.slice(end + 2 + length + 2);
  if (end < 0 || text.length < end + 2 + length + 2) return undefined;
  if (length === 0) return { body: '', rest };
  const others = readChunks(rest);
  return others && { body: data + others.body, rest: others.rest };
};
