/** One server-sent event. */
export interface ServerEvent {
  id: string | undefined;
  event: string;
  data: string;
}

interface Handlers {
  /** Called for every piece of the stream, comments included. */
  onContact(): void;
  onEvent(event: ServerEvent): void;
}

/** Reads server-sent events until the stream ends; rejects if it breaks or is aborted. */
export const readEvents = async (response: Response, { onContact, onEvent }: Handlers): Promise<void> => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
    onContact();
    const blocks = (rest + piece.value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parseEvent(block);
      if (event) onEvent(event);
    }
  }
};

/** The event of one block of lines; undefined for comments. */
const parseEvent = (block: string): ServerEvent | undefined => {
  const fields: Record<string, string> = {};
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name !== undefined) fields[name] = name in fields ? `${fields[name]}\n${value}` : value;
  }
  const { id, event = 'message', data } = fields;
  return data === undefined && event === 'message' ? undefined : { id, event, data: data ?? '' };
};
