const { readFileSync, writeFileSync } = require('node:fs');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

// Compiles a script for the executable: `node write-cache.cjs SCRIPT CACHE`, with the Node.js of the executable. V8 uses
// the result only if the flags are those of src/lib/small-heap.ts.
setFlagsFromString('--heap-growing-percent=40');
const [, , script, cache] = process.argv;
writeFileSync(cache, new Script(readFileSync(script, 'utf8'), { filename: script }).createCachedData());
