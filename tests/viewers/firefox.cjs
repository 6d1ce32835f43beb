// Reads a profile by the Firefox Profiler's own loader and prints what it made of it.
//
//   node firefox.cjs BUNDLE FILE
const fs = require('fs');
const [bundle, file] = process.argv.slice(2);
const { unserializeProfileOfArbitraryFormat } = require(bundle);

async function main() {
  const profile = await unserializeProfileOfArbitraryFormat(fs.readFileSync(file, 'utf8'), file);
  const { funcTable, stringArray } = profile.shared;
  process.stdout.write(
    JSON.stringify({
      version: profile.meta.preprocessedProfileVersion,
      threads: profile.threads.map((thread) => ({ name: thread.name, samples: thread.samples.length })),
      functions: Array.from(funcTable.name, (name) => stringArray[name]),
    }) + '\n'
  );
}

main().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(1);
});
