/**
 * Debian's changelog: an entry for each release of CHANGELOG.md, newest first. What is unreleased is of `version`, in place of
 * the release with that version, since no two entries may have the same.
 */
export const toDebianChangelog = (text, { version, date, maintainer }) =>
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title, ...lines] = section.split('\n');
      return { lines, ...parseTitle(title) };
    })
    .filter(({ released }, index) => index === 0 || released !== version)
    .map(({ lines, released, day }, index) => {
      const when = day === undefined || index === 0 ? date : new Date(day);
      const name = index === 0 ? version : released.replace('-', '~');
      return [
        `signalbox (${name}) unstable; urgency=medium`,
        '',
        ...toChanges(lines),
        '',
        ` -- ${maintainer}  ${when.toUTCString().replace('GMT', '+0000')}`,
        '',
      ].join('\n');
    })
    .join('\n');

/** `1.0.0` and `1.0.0, 2026-11-22`; a title without a version is that of what is unreleased. */
const parseTitle = (title) => {
  const [, released, day] = /^\[?(\d+\.\d+\.\d+\S*?)\]?(?:[^\d]+(\d{4}-\d\d-\d\d))?$/.exec(title) ?? [];
  return { released, day };
};

/** `### Title` is a group, `- change` begins a change, and indented or other text continues it. */
const toChanges = (lines) => {
  const changes = [];
  for (const line of lines.map((each) => each.trimEnd())) {
    if (line.startsWith('### ')) changes.push(`[ ${line.slice(4)} ]`);
    else if (line.startsWith('- ') || changes.length === 0 || !line.startsWith(' ')) {
      if (line !== '') changes.push(`* ${line.replace(/^- /, '')}`);
    } else changes.push(`${changes.pop()} ${line.trim()}`);
  }
  return changes.flatMap(wrap);
};

/** Lines of at most 78 characters, the first indented by 2 and the others by 4. */
const wrap = (change) => {
  const lines = [];
  for (const word of change.split(' ')) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + word.length < 78) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(`${lines.length === 0 ? '  ' : '    '}${word}`);
  }
  return lines;
};
