namespace Signalbox.Test.Cmdlets;

/// <summary>The stand-ins by where PowerShell has the cmdlets that they replace.</summary>
static class StandIns
{
    static readonly Type[] Everywhere =
    [
        typeof(NewObjectCommand), typeof(SelectObjectCommand), typeof(ConvertFromJsonCommand),
        typeof(ConvertToJsonCommand), typeof(GetProcessCommand), typeof(InvokeRestMethodCommand),
    ];

    static readonly Dictionary<string, Type> WindowsOnly = new()
    {
        ["Get-Service"] = typeof(GetServiceCommand),
        ["Get-EventLog"] = typeof(GetEventLogCommand),
        ["Get-WinEvent"] = typeof(GetWinEventCommand),
        ["Get-CimInstance"] = typeof(GetCimInstanceCommand),
    };

    public static IEnumerable<Type> Choose(string[] windowsOnly) =>
        [.. Everywhere, .. windowsOnly.Select(name => WindowsOnly[name])];
}
