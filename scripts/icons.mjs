import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './install.mjs';

const require = createRequire(import.meta.url);

/** The outlines of the icons that console/ui/icons.json names, for `define`: the style sheet has their colour and width. */
export const readIcons = () => {
  const { icons } = require('@iconify-json/lucide/icons.json');
  const names = JSON.parse(readFileSync(join(root, 'console', 'ui', 'icons.json'), 'utf8'));
  const toOutline = (name) => icons[name].body.replaceAll(/ (fill|stroke[a-z-]*)="[^"]*"|<\/?g>/g, '');
  return JSON.stringify(Object.fromEntries(Object.entries(names).map(([name, icon]) => [name, toOutline(icon)])));
};
