// Opens a profile with speedscope itself, in a window without a screen, and prints what it shows.
//
//   node speedscope.cjs FOLDER_WITH_NODE_MODULES FILE
const fs = require('fs');
const path = require('path');
const [folder, file] = process.argv.slice(2);
const modules = path.join(folder, 'node_modules');
const { JSDOM, VirtualConsole } = require(path.join(modules, 'jsdom'));
const release = path.join(modules, 'speedscope', 'dist', 'release');
const program = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));

const said = [];
process.on('uncaughtException', (error) => said.push(`fault: ${error && error.message}`));
const messages = new VirtualConsole();
for (const kind of ['log', 'warn', 'error', 'jsdomError'])
  messages.on(kind, (first) => said.push(`${kind}: ${(first && first.message) || first}`));
const { window } = new JSDOM('<!doctype html><body></body>', {
  url: 'http://localhost/#localProfilePath=none.js',
  runScripts: 'outside-only',
  pretendToBeVisual: true,
  virtualConsole: messages,
});
// What a window without a screen lacks.
Object.assign(window, { TextDecoder, TextEncoder });
window.Element.prototype.scrollIntoView = () => {};
const unchanging = { matches: false, addEventListener() {}, removeEventListener() {} };
window.matchMedia = () => ({ ...unchanging, addListener() {}, removeListener() {} });
window.eval(
  fs.readFileSync(path.join(release, program), 'utf8').replace(/import\.meta\.url/g, '"http://localhost/"')
);

function told() {
  const text = window.document.body.textContent;
  process.stdout.write(JSON.stringify({ title: window.document.title, text, said }) + '\n');
  process.exit(0);
}

// It is there when it has drawn its first page, and has read a file when the title names it.
let left = 300;
setInterval(() => {
  const refused = said.some((line) => line.includes("Window's alert() method"));
  if (window.speedscope && left === 300) {
    left -= 1;
    const content = fs.readFileSync(file).toString('base64');
    window.speedscope.loadFileFromBase64(path.basename(file), content);
  } else if (left < 300 && (window.document.title || refused || (left -= 1) < 0)) {
    setTimeout(told, 200);
  }
}, 100);
