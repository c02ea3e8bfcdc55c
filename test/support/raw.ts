import { connect } from 'node:net';

/** Sends bytes as they are, so that nothing tidies them up, and reads the answer to the end of the connection. */
export const sendRaw = (url: string, request: string | Buffer): Promise<string> => {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      answer += text;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    socket.setTimeout(5000, () => socket.destroy(new Error(`no answer to ${request}`)));
    socket.write(request);
  });
};

/** A GET of the path exactly as written, on a connection that is closed after it. */
export const getRaw = (url: string, path: string): Promise<string> =>
  sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
