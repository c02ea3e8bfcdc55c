using System.Collections;
using System.Globalization;
using System.Management.Automation;

namespace Signalbox.Test.Cmdlets;

// Stand-ins with the parameters that the cmdlets have on Windows. They return made-up objects; one property of each
// lists the values that the cmdlet got, with their types.

static class Given
{
    /// <summary>Bound parameters as `Name: Type value, value; …`, in alphabetical order.</summary>
    public static string Describe(InvocationInfo invocation) => Describe(invocation.BoundParameters);

    public static string Describe(IDictionary parameters) =>
        string.Join("; ", parameters.Keys.Cast<string>().Order(StringComparer.Ordinal).Select(name => $"{name}: {ToText(parameters[name])}"));

    static string ToText(object? value)
    {
        if (value is PSObject wrapped) value = wrapped.BaseObject;
        var type = value?.GetType().Name;
        var values = value is IEnumerable list and not string ? list.Cast<object?>() : [value];
        return $"{type} {string.Join(", ", values.Select(ToOneText))}";
    }

    static string? ToOneText(object? value) =>
        value is DateTime time
            ? time.ToUniversalTime().ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture)
            : Convert.ToString(value, CultureInfo.InvariantCulture);
}

public enum ServiceState { Stopped = 1, Running = 4 }

public enum StartMode { Automatic = 2, Manual = 3 }

[Flags]
public enum ServiceKinds { Win32OwnProcess = 16, InteractiveProcess = 256 }

public sealed record Service(
    string Name, string DisplayName, ServiceState Status, StartMode StartType, ServiceKinds ServiceType, bool CanStop, string MachineName);

[Cmdlet(VerbsCommon.Get, "Service", DefaultParameterSetName = "Default")]
public sealed class GetServiceCommand : PSCmdlet
{
    [Parameter(Position = 0, ParameterSetName = "Default")] public string[]? Name { get; set; }

    [Parameter(Mandatory = true, ParameterSetName = "DisplayName")] public string[]? DisplayName { get; set; }

    [Parameter] public string[]? Include { get; set; }

    [Parameter] public string[]? Exclude { get; set; }

    protected override void ProcessRecord()
    {
        foreach (var name in Name ?? [])
        {
            if (name != "nosuch") continue;
            var error = new InvalidOperationException($"Cannot find any service with service name '{name}'.");
            WriteError(new ErrorRecord(error, "NoServiceFoundForGivenName", ErrorCategory.ObjectNotFound, name));
        }
        var kinds = ServiceKinds.Win32OwnProcess | ServiceKinds.InteractiveProcess;
        WriteObject(new Service("spooler", Given.Describe(MyInvocation), ServiceState.Running, StartMode.Automatic, kinds, true, "."));
    }
}

public enum EntryKind { Error = 1, Information = 4 }

public sealed record LogEntry(
    int Index, DateTime TimeGenerated, DateTime TimeWritten, EntryKind EntryType, string Source, long InstanceId, int EventID, string Category,
    string Message, string MachineName, string? UserName);

/// <summary>Exists only in Windows PowerShell 5.1.</summary>
[Cmdlet(VerbsCommon.Get, "EventLog")]
public sealed class GetEventLogCommand : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string LogName { get; set; } = "";

    [Parameter] public int Newest { get; set; }

    [Parameter] public DateTime After { get; set; }

    [Parameter] public DateTime Before { get; set; }

    [Parameter] [ValidateSet("Error", "Information", "FailureAudit", "SuccessAudit", "Warning")] public string[]? EntryType { get; set; }

    [Parameter] public string[]? Source { get; set; }

    [Parameter] public long[]? InstanceId { get; set; }

    [Parameter] public int[]? Index { get; set; }

    protected override void ProcessRecord()
    {
        if (Source is ["nosuch"])
        {
            var error = new ArgumentException("No matches found");
            WriteError(new ErrorRecord(error, "GetEventLogNoEntriesFound", ErrorCategory.ObjectNotFound, null));
            return;
        }
        var time = After.AddSeconds(1);
        WriteObject(new LogEntry(7, time, time, default(EntryKind), Source?[0] ?? "demo", 0xC0000409, 1033, "(0)", Given.Describe(MyInvocation), "pc", null));
    }
}

public sealed record WinEvent(
    long RecordId, DateTime TimeCreated, byte Level, long Keywords, string ProviderName, int Id, int Qualifiers, string? TaskDisplayName,
    string Message, string MachineName, object? UserId);

/// <summary>Replaces Get-EventLog in PowerShell 7.</summary>
[Cmdlet(VerbsCommon.Get, "WinEvent")]
public sealed class GetWinEventCommand : PSCmdlet
{
    [Parameter(Mandatory = true)] public Hashtable FilterHashtable { get; set; } = [];

    protected override void ProcessRecord()
    {
        if (FilterHashtable["ProviderName"] is object[] and ["nosuch"])
        {
            var error = new ArgumentException("There is not an event provider that matches.");
            WriteError(new ErrorRecord(error, "NoMatchingProvidersFound", ErrorCategory.ObjectNotFound, null));
            return;
        }
        var start = (DateTime)FilterHashtable["StartTime"]!;
        foreach (var id in new[] { 3, 2, 1 })
        {
            WriteObject(new WinEvent(id, start.AddSeconds(id), 4, long.MinValue + (1L << 55), $"source {id}", id, 0x4000, null,
                Given.Describe(FilterHashtable), "pc", null));
        }
    }
}

[Cmdlet(VerbsCommon.Get, "CimInstance")]
public sealed class GetCimInstanceCommand : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string ClassName { get; set; } = "";

    [Parameter] public string[]? Property { get; set; }

    [Parameter] public string? Filter { get; set; }

    /// <summary>Object with the requested properties, and a property that must never be shown.</summary>
    protected override void ProcessRecord()
    {
        var instance = new PSObject();
        foreach (var name in Property ?? []) instance.Properties.Add(new PSNoteProperty(name, Given.Describe(MyInvocation)));
        instance.Properties.Add(new PSNoteProperty("CommandLine", "secret"));
        WriteObject(instance);
    }
}
