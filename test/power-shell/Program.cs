using System.Management.Automation;
using System.Management.Automation.Runspaces;
using System.Reflection;
using Microsoft.PowerShell.Commands;
using Signalbox.Test;
using Signalbox.Test.Cmdlets;

// Runs PowerShell's engine with the arguments of the program pwsh: -NoLogo -NoProfile -NonInteractive -Command SCRIPT,
// with the lines of standard input as $input. It has the cmdlets of the engine and of the modules Management and
// Utility. `--windows NAME,NAME` adds stand-ins for cmdlets that exist only on Windows, and `--parse` prints how
// PowerShell parses each line of standard input.

if (args is ["--parse"]) return LineParser.Run(Console.In, Console.Out);

string[] windowsOnly = [];
if (args is ["--windows", var names, .. var rest])
{
    windowsOnly = names.Split(',');
    args = rest;
}
if (args is not ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", var script])
{
    Console.Error.WriteLine("pwsh: these are not the arguments of the server's runner");
    return 64;
}

var state = InitialSessionState.CreateDefault2();
Assembly[] modules = [typeof(GetProcessCommand).Assembly, typeof(InvokeRestMethodCommand).Assembly];
var own = modules.SelectMany(module => module.GetExportedTypes()).Where(type => !type.IsAbstract);
foreach (var cmdlet in own.Concat(StandIns.Choose(windowsOnly)))
{
    if (cmdlet.GetCustomAttribute<CmdletAttribute>() is not { } attribute) continue;
    state.Commands.Add(new SessionStateCmdletEntry($"{attribute.VerbName}-{attribute.NounName}", cmdlet, null));
}
using var runspace = RunspaceFactory.CreateRunspace(state);
runspace.Open();
using var shell = PowerShell.Create(runspace);
try
{
    foreach (var output in shell.AddScript(script).Invoke(ReadLines(Console.In))) Console.WriteLine(output);
}
catch (RuntimeException error)
{
    Console.Error.WriteLine(error.Message);
    return 1;
}
foreach (var error in shell.Streams.Error) Console.Error.WriteLine(error);
return shell.HadErrors ? 1 : 0;

static IEnumerable<string> ReadLines(TextReader reader)
{
    while (reader.ReadLine() is { } line) yield return line;
}
