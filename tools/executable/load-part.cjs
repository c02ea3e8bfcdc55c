const { getAsset, getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

/** Loads a part of the program from the executable's assets. An agent, for example, does not load the server. */
exports.loadPart = (name) => {
  const filename = `${name}.cjs`;
  const cachedData = Buffer.from(getRawAsset(`${name}.cache`));
  const part = { exports: {} };
  new Script(getAsset(filename, 'utf8'), { filename, cachedData }).runInThisContext()(part, require);
  return part.exports;
};
