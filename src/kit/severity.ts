/** Alert severities, worst first. */
export const severities = ['CRITICAL', 'ERROR', 'WARNING', 'INFO'] as const;
export type Severity = (typeof severities)[number];

/**
 * Patterns for the levels of each severity, in lower case: syslog keywords (RFC 5424), labels of Prometheus and
 * PagerDuty, names used by logging libraries, and priorities from 1 to 5.
 */
const names: Record<Severity, RegExp> = {
  CRITICAL:
    /^(?:critical|crit|page|pager|paging|emergency|emerg|alert|fatal|panic|disaster|blocker|down|(?:p|sev|s|prio|priority)?-?[01])$/,
  ERROR: /^(?:error|err|errors|severe|major|high|failure|failed|(?:p|sev|s|prio|priority)?-?2)$/,
  WARNING: /^(?:warning|warn|wrn|warnings|minor|medium|average|moderate|degraded|(?:p|sev|s|prio|priority)?-?3)$/,
  INFO: /^(?:info|information|informational|inf|notice|debug|trace|verbose|none|ok|okay|low|normal|resolved|(?:p|sev|s|prio|priority)?-?[45])$/,
};

/** Finds the severity of a level or label. Ignores case. Undefined for unknown text. */
export const findSeverity = (level: string): Severity | undefined => {
  // Most senders use the severities' own names.
  if (isSeverity(level)) return level;
  const name = level.trim().toLowerCase();
  return severities.find((severity) => names[severity].test(name));
};

const isSeverity = (level: string): level is Severity => (severities as readonly string[]).includes(level);

/** Returns the severity of a level. Unknown and empty levels count as WARNING, so that somebody looks at them. */
export const toSeverity = (level: string): Severity => findSeverity(level) ?? 'WARNING';

/** Returns the rank of a severity. 0 is the worst. */
export const rankOf = (severity: Severity): number => severities.indexOf(severity);
