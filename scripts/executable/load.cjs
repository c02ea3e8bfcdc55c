// The main script of the executable: runs the program with the code that V8 compiled for it when it was built.
const { getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

const read = (name) => Buffer.from(getRawAsset(name));
const script = new Script(read('program.cjs').latin1Slice(), {
  filename: 'signalbox.js',
  cachedData: read('program.cache'),
});
script.runInThisContext()(require);
