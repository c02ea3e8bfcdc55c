using System.Collections;
using System.Management.Automation;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace Signalbox.Test.Cmdlets;

[Cmdlet(VerbsCommon.New, "Object")]
public sealed class NewObjectCommand : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string TypeName { get; set; } = "";

    [Parameter(Position = 1)] public object[] ArgumentList { get; set; } = [];

    protected override void BeginProcessing() =>
        WriteObject(Activator.CreateInstance(LanguagePrimitives.ConvertTo<Type>(TypeName), ArgumentList.Select(Unwrap).ToArray()));

    static object? Unwrap(object argument) => argument is PSObject wrapped ? wrapped.BaseObject : argument;
}

/// <summary>The real one also ends the pipeline once it has enough.</summary>
[Cmdlet(VerbsCommon.Select, "Object")]
public sealed class SelectObjectCommand : PSCmdlet
{
    int _seen;

    [Parameter(ValueFromPipeline = true)] public PSObject? InputObject { get; set; }

    [Parameter(Mandatory = true)] public int First { get; set; }

    protected override void ProcessRecord()
    {
        if (_seen++ < First) WriteObject(InputObject);
    }
}

/// <summary>Reads JSON with the library and the defaults of the real one, which turns texts that look like dates into dates.</summary>
[Cmdlet(VerbsData.ConvertFrom, "Json")]
public sealed class ConvertFromJsonCommand : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public string InputObject { get; set; } = "";

    protected override void ProcessRecord() => WriteObject(ToObject(JsonConvert.DeserializeObject<JToken>(InputObject, Settings)));

    static readonly JsonSerializerSettings Settings = new()
    {
        TypeNameHandling = TypeNameHandling.None,
        MetadataPropertyHandling = MetadataPropertyHandling.Ignore,
        MaxDepth = 1024,
    };

    static object? ToObject(JToken? token)
    {
        switch (token)
        {
            case JObject found:
                var made = new PSObject();
                foreach (var (name, value) in found) made.Properties.Add(new PSNoteProperty(name, ToObject(value)));
                return made;
            case JArray list:
                return list.Select(ToObject).ToArray();
            default:
                return (token as JValue)?.Value;
        }
    }
}

[Cmdlet(VerbsData.ConvertTo, "Json")]
public sealed class ConvertToJsonCommand : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public object? InputObject { get; set; }

    [Parameter] public int Depth { get; set; } = 2;

    [Parameter] public SwitchParameter Compress { get; set; }

    protected override void ProcessRecord() =>
        WriteObject(JsonConvert.SerializeObject(ToPlain(InputObject, Depth), Compress ? Formatting.None : Formatting.Indented));

    static object? ToPlain(object? value, int depth)
    {
        if (value is PSObject { BaseObject: not PSCustomObject } wrapped) value = wrapped.BaseObject;
        if (value is null or string or ValueType) return value;
        if (depth < 0) return value.ToString();
        if (value is IDictionary map)
        {
            var plain = new Dictionary<string, object?>();
            foreach (DictionaryEntry entry in map) plain[entry.Key.ToString()!] = ToPlain(entry.Value, depth - 1);
            return plain;
        }
        if (value is IEnumerable list) return list.Cast<object?>().Select(item => ToPlain(item, depth - 1)).ToArray();
        return value is PSObject custom
            ? custom.Properties.ToDictionary(property => property.Name, property => ToPlain(property.Value, depth - 1))
            : value.ToString();
    }
}

/// <summary>A request without a body, whose answer is written as text; an error status ends the pipeline, as with the real one.</summary>
[Cmdlet(VerbsLifecycle.Invoke, "RestMethod")]
public sealed class InvokeRestMethodCommand : PSCmdlet
{
    [Parameter(Mandatory = true, Position = 0)] public Uri Uri { get; set; } = null!;

    [Parameter] public string Method { get; set; } = "Get";

    protected override void ProcessRecord()
    {
        using var client = new HttpClient();
        using var answer = client.Send(new HttpRequestMessage(HttpMethod.Parse(Method), Uri));
        answer.EnsureSuccessStatusCode();
        using var reader = new StreamReader(answer.Content.ReadAsStream());
        WriteObject(reader.ReadToEnd());
    }
}
