import { cimClasses } from '../cim-classes.ts';
import { policies } from '../policy.ts';

/** Properties to read from each object. A dot leads to a property of the value. No property contains a command line. */
// biome-ignore format: a list of names reads better in lines than in a column
export const readProperties = {
  'Get-Process': [
    'Id', 'ProcessName', 'CPU', 'WorkingSet64', 'PagedMemorySize64', 'VirtualMemorySize64',
    'PrivateMemorySize64', 'HandleCount', 'Threads.Count', 'SessionId', 'StartTime', 'Path', 'Parent.Id',
  ],
  'Get-Service': ['Name', 'DisplayName', 'Status', 'StartType', 'ServiceType', 'CanStop', 'MachineName'],
  'Get-EventLog': [
    'Index', 'TimeGenerated', 'TimeWritten', 'EntryType', 'Source', 'InstanceId', 'EventID', 'Category',
    'Message', 'MachineName', 'UserName',
  ],
  'Get-WinEvent': [
    'RecordId', 'TimeCreated', 'Level', 'Keywords', 'ProviderName', 'Id', 'Qualifiers', 'TaskDisplayName',
    'Message', 'MachineName', 'UserId',
  ],
} as const;

/** Filters for Get-WinEvent. It is used if Get-EventLog is missing. */
export const eventFilterNames = ['LogName', 'StartTime', 'EndTime', 'Level', 'ProviderName'] as const;

const toHashTable = (entries: [string, readonly string[]][]): string => {
  const lines = entries.map(([key, values]) => `  '${key}' = @(${values.map((each) => `'${each}'`).join(', ')})`);
  return `@{\n${lines.join('\n')}\n}`;
};

const allowed = toHashTable([
  ...Object.entries(policies).map(([name, { parameters }]): [string, string[]] => [name, Object.keys(parameters)]),
  ['Get-WinEvent', eventFilterNames],
]);

const classes = toHashTable(
  Object.entries(cimClasses).map(([name, { properties }]): [string, readonly string[]] => [name, properties]),
);

/**
 * The only text that PowerShell runs. It is identical for every request and written for Windows PowerShell 5.1. The
 * script reads one line of JSON from standard input (see request.ts). It writes lines of JSON (see answer.ts) as bytes,
 * because the console's encoding is unknown. Modules are loaded only from PowerShell's own folder. Double quotes are
 * avoided, because Windows would have to escape them in the argument.
 */
export const script = String.raw`
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$WarningPreference = 'SilentlyContinue'
$env:PSModulePath = [IO.Path]::Combine($PSHOME, 'Modules')

$allowed = ${allowed}
$properties = ${toHashTable(Object.entries(readProperties))}
$classes = ${classes}

$stdout = [Console]::OpenStandardOutput()
$utf8 = New-Object -TypeName System.Text.UTF8Encoding -ArgumentList $false
$dateForm = 'yyyy-MM-dd\THH:mm:ss.fff\Z'
$invariant = [Globalization.CultureInfo]::InvariantCulture

function Send-Message($message) {
  $bytes = $utf8.GetBytes((ConvertTo-Json -InputObject $message -Compress -Depth 4) + [char]10)
  $stdout.Write($bytes, 0, $bytes.Length)
}

function ConvertFrom-Wire($type, $value) {
  if ($type -ceq 'number') { return $value }
  $text = $value.Substring(1)
  if ($type -cne 'date') { return $text }
  return [datetime]::ParseExact($text, $dateForm, $invariant, [Globalization.DateTimeStyles]::AssumeUniversal)
}

function ConvertTo-Wire($value) {
  if ($null -eq $value) { return $null }
  if ($value -is [datetime]) { return $value.ToUniversalTime().ToString($dateForm, $invariant) }
  if ($value -is [enum]) { return $value.ToString() }
  if ($value -is [valuetype]) { return $value }
  if ($value.GetType().Name -ceq 'SecurityIdentifier') {
    try { return $value.Translate([Security.Principal.NTAccount]).Value } catch { return $value.Value }
  }
  return $value.ToString()
}

function Read-Property($object, $path) {
  try {
    $value = $object
    foreach ($name in $path.Split('.')) { $value = $value.$name }
    return ConvertTo-Wire $value
  } catch {
    return $null
  }
}

function Find-Cmdlet($name) {
  if ($allowed.Keys -cnotcontains $name) { throw ($name + ' is not allowed') }
  return Get-Command -Name $name -CommandType Cmdlet -ErrorAction Ignore | Select-Object -First 1
}

try {
  $request = ConvertFrom-Json -InputObject (@($input) -join '')
  $call = $request
  $cmdlet = Find-Cmdlet $call.command
  if (-not $cmdlet -and $request.fallback) {
    $call = $request.fallback
    $cmdlet = Find-Cmdlet $call.command
  }
  if (-not $cmdlet) {
    $here = 'PowerShell ' + $PSVersionTable.PSVersion + ' on ' + [Environment]::OSVersion.VersionString
    throw ($request.command + ' is not available in ' + $here)
  }

  $parameters = @{}
  foreach ($given in $call.parameters) {
    if ($allowed[$call.command] -cnotcontains $given.name) { throw ('-' + $given.name + ' is not allowed') }
    $values = @(foreach ($value in $given.values) { ConvertFrom-Wire $given.type $value })
    if ($given.many) { $parameters[$given.name] = $values } else { $parameters[$given.name] = $values[0] }
  }

  $names = $properties[$call.command]
  if ($call.command -ceq 'Get-CimInstance') {
    $names = $parameters['Property']
    foreach ($name in $names) {
      if ($classes[$parameters['ClassName']] -cnotcontains $name) { throw ($name + ' is not allowed') }
    }
  }
  if ($call.command -ceq 'Get-WinEvent') { $parameters = @{ FilterHashtable = $parameters } }

  Send-Message @{ command = $call.command }
  & $cmdlet @parameters | ForEach-Object -Process {
    $row = [ordered]@{}
    foreach ($name in $names) { $row[$name] = Read-Property $_ $name }
    Send-Message @{ row = $row }
  }
  Send-Message @{ end = $true }
} catch {
  if ($_.FullyQualifiedErrorId -match '^(NoMatchingEventsFound|NoMatchingProvidersFound|GetEventLogNoEntriesFound)') {
    Send-Message @{ end = $true }
  } else {
    Send-Message @{ error = $_.Exception.Message }
  }
}
`;
