using System.ComponentModel;
using System.Diagnostics;
using System.Management.Automation;

namespace Signalbox.Test.Cmdlets;

/// <summary>The processes of this machine. CPU, Path and Parent are from the engine's own table of types.</summary>
[Cmdlet(VerbsCommon.Get, "Process", DefaultParameterSetName = "Name")]
public sealed class GetProcessCommand : PSCmdlet
{
    [Parameter(Position = 0, ParameterSetName = "Name")] public string[]? Name { get; set; }

    [Parameter(Mandatory = true, ParameterSetName = "Id")] public int[] Id { get; set; } = [];

    protected override void ProcessRecord()
    {
        var found = ParameterSetName == "Id" ? Id.SelectMany(FindById) : Name?.SelectMany(FindByName) ?? Process.GetProcesses();
        foreach (var process in found.DistinctBy(each => each.Id).OrderBy(ReadName).ThenBy(each => each.Id)) WriteObject(process);
    }

    IEnumerable<Process> FindById(int id)
    {
        try
        {
            return [Process.GetProcessById(id)];
        }
        catch (ArgumentException)
        {
            Report($"Cannot find a process with the process identifier {id}.", "NoProcessFoundForGivenId", id);
            return [];
        }
    }

    IEnumerable<Process> FindByName(string name)
    {
        var pattern = WildcardPattern.Get(name, WildcardOptions.IgnoreCase);
        var found = Process.GetProcesses().Where(process => pattern.IsMatch(ReadName(process))).ToList();
        if (found.Count == 0 && !WildcardPattern.ContainsWildcardCharacters(name))
        {
            var text = $"Cannot find a process with the name \"{name}\". Verify the process name and call the cmdlet again.";
            Report(text, "NoProcessFoundForGivenName", name);
        }
        return found;
    }

    void Report(string text, string id, object target) =>
        WriteError(new ErrorRecord(new InvalidOperationException(text), id, ErrorCategory.ObjectNotFound, target));

    static string ReadName(Process process)
    {
        try
        {
            return process.ProcessName;
        }
        catch (Exception error) when (error is InvalidOperationException or Win32Exception)
        {
            return "";
        }
    }
}
