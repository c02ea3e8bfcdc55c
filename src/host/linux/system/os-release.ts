/**
 * The name for people from the content of os-release(5), or null. Values may stand in quotes as in a
 * shell, with a backslash before `"`, `$`, backtick and backslash.
 */
export const parseOsName = (content: string): string | null => {
  const assigned = /^PRETTY_NAME=(.*)$/m.exec(content)?.[1]?.trim() ?? '';
  const [, quoted] = /^(?:"(.*)"|'.*')$/.exec(assigned) ?? [];
  const value = quoted === undefined ? assigned.replace(/^'(.*)'$/, '$1') : quoted.replace(/\\(.)/g, '$1');
  return value || null;
};
