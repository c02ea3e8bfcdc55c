/** Resolves to the address of a program that was just started, once it listens; rejects with its errors if it ends before. */
export const readUrl = (program) =>
  new Promise((resolve, reject) => {
    let output = '';
    let errors = '';
    program.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      const [, url] = /listens on (\S+)\n/.exec(output) ?? [];
      if (url) resolve(url);
    });
    program.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    program.on('error', reject);
    program.on('close', () => reject(new Error(`the program has ended: ${errors}`)));
  });
