import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/server/package-info.ts';

interface Section {
  title: string;
  text: string;
}

/** Reads a file by its path from the repository's root. */
export const readText = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** Lists the files in a folder and its subfolders, as paths from the root. */
export const listFiles = (folder: string): string[] =>
  readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(packageRoot.length + 1));

/** Paths of all documents. */
export const listDocuments = (): string[] =>
  [...readdirSync(packageRoot), ...listFiles('docs'), ...listFiles('bench')].filter((path) => path.endsWith('.md'));

/** Lists the paths that a document links to, relative to its folder. Ignores web addresses and anchors. */
export const listLinkedFiles = (text: string): string[] =>
  [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link));

/** Splits a document at a heading level. The section before the first heading has no title. */
const toSections = (text: string, level: number): Section[] =>
  text.split(new RegExp(`^${'#'.repeat(level)} `, 'm')).map((part, index) => {
    const end = index === 0 ? 0 : part.indexOf('\n');
    return { title: part.slice(0, end), text: part.slice(end) };
  });

/** Returns the section with a title, or an empty string if it is missing. */
export const findSection = (text: string, title: string): string =>
  toSections(text, 2).find((section) => section.title === title)?.text ?? '';

/** Returns the contents of fenced blocks in a language. */
export const toBlocks = (text: string, language: string): string[] =>
  [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , content = '']) => content);
