const { getAsset, getRawAsset } = require('node:sea');
const { Script } = require('node:vm');

/** Loads a part of the program from the executable's assets. An agent, for example, does not load the server. */
exports.loadPart = (name, isCompiled) => {
  const filename = `${name}.cjs`;
  const cachedData = isCompiled ? Buffer.from(getRawAsset(`${name}.cache`)) : undefined;
  const part = { exports: {} };
  new Script(getAsset(filename, 'utf8'), { filename, cachedData }).runInThisContext()(part, require);
  return part.exports;
};
