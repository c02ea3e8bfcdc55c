// Run by the executable's Node: starts the program once and writes the code that V8 has compiled by its first response.
// Node's own code cache for executables omits all functions, which are compiled only when first called.
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const sea = require('node:sea');
const { Script } = require('node:vm');

const [, , root, programPath, cachePath] = process.argv;

// The program must take the same path as in the executable.
sea.isSea = () => true;
sea.getRawAsset = (name) => {
  const { buffer, byteOffset, byteLength } = readFileSync(join(root, name));
  return buffer.slice(byteOffset, byteOffset + byteLength);
};

const folder = mkdtempSync(join(tmpdir(), 'signalbox-compile-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
process.argv = [process.execPath, process.execPath, '--port', '0', '--data-dir', folder];
process.env = {};

const script = new Script(readFileSync(programPath, 'latin1'), { filename: 'signalbox.js' });

const finish = async (address) => {
  await (await fetch(`${address}/health`)).text();
  writeFileSync(cachePath, script.createCachedData());
  process.kill(process.pid, 'SIGTERM');
};
const write = process.stdout.write;
process.stdout.write = (text, ...others) => {
  const address = /listens on (\S+)\n/.exec(text)?.[1];
  if (address === undefined) return write.call(process.stdout, text, ...others);
  // After the program has finished the rest of its startup.
  setImmediate(finish, address);
  return true;
};
script.runInThisContext()(require);
