import { toFlagName, toVariableName } from './names.ts';
import { formerNames } from './schema.ts';

interface Sources {
  flags: Record<string, string | boolean | undefined>;
  environment: NodeJS.ProcessEnv;
  file: Record<string, unknown>;
  /** The config file, if there is one. */
  path: string | undefined;
}

/**
 * Gives the values of former names to the current ones. `warnings` has a line for each; `problems` has a line for each
 * setting that one source gives under both names.
 */
export const useCurrentNames = ({ flags, environment, file, path }: Sources) => {
  const warnings: string[] = [];
  const problems: string[] = [];
  const rename = <T extends Record<string, unknown>>(
    values: T,
    toName: (key: string) => string,
    { show = (name: string) => name, where = '' },
  ): T => {
    let renamed = values;
    for (const [former, current] of Object.entries(formerNames)) {
      const [from, to] = [toName(former), toName(current)];
      const { [from]: value, ...others } = renamed;
      if (value === undefined || value === '') continue;
      if (renamed[to] === undefined) {
        renamed = { ...others, [to]: value } as T;
        warnings.push(`${show(from)}${where} is called ${show(to)} now: use that name`);
      } else {
        renamed = others as T;
        problems.push(`${show(from)}${where} is the former name of ${show(to)}, which is set too: remove it`);
      }
    }
    return renamed;
  };
  return {
    flags: rename(flags, (key) => key, { show: (key) => `--${toFlagName(key)}` }),
    environment: rename(environment, toVariableName, {}),
    file: rename(file, (key) => key, { where: ` in ${path}` }),
    warnings,
    problems,
  };
};
