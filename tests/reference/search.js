// Asks the search of the built docs: `node search.js FOLDER`, with a JSON list of queries on standard
// input. It runs the scripts that a browser runs, and prints the pages of the results of each, best first.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const folder = process.argv[2];
const nothing = () => undefined;
const browser = {
  console,
  document: { addEventListener: nothing, getElementById: () => ({}), documentElement: { dataset: {} } },
  addEventListener: nothing,
  location: { search: "" },
  localStorage: { setItem: nothing, removeItem: nothing },
  URLSearchParams,
  _ready: nothing,
  SPHINX_HIGHLIGHT_ENABLED: false,
};
browser.window = browser;
const context = vm.createContext(browser);
const scripts = ["language_data.js", "searchtools.js"].map((name) => path.join("_static", name));
const sources = [...scripts, "searchindex.js"].map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
// One script, since what `const` declares is seen in its own script only.
const ask = vm.runInContext(
  `${sources.join(";\n")};\n(query) => Search._performSearch(...Search._parseQuery(query))`,
  context,
);
const queries = JSON.parse(fs.readFileSync(0, "utf8"));
// The best result is the last one.
const pages = (query) => [...new Set(ask(query).reverse().map((result) => result[0]))];
process.stdout.write(JSON.stringify(queries.map(pages)));
