namespace Signalbox.Test.Cmdlets;

/// <summary>Stand-ins for cmdlets that exist only on Windows.</summary>
static class StandIns
{
    static readonly Dictionary<string, Type> WindowsOnly = new()
    {
        ["Get-Service"] = typeof(GetServiceCommand),
        ["Get-EventLog"] = typeof(GetEventLogCommand),
        ["Get-WinEvent"] = typeof(GetWinEventCommand),
        ["Get-CimInstance"] = typeof(GetCimInstanceCommand),
    };

    public static IEnumerable<Type> Choose(string[] names) => names.Select(name => WindowsOnly[name]);
}
