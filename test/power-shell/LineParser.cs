using System.Management.Automation;
using System.Management.Automation.Language;
using System.Text.Json;

namespace Signalbox.Test;

/// <summary>Parses command lines with PowerShell: one JSON text per line in, one JSON array per line out.</summary>
static class LineParser
{
    /// <summary>
    /// Prints `[name, element…]` for each line that is one command of constants; an element is the name of a parameter
    /// as text, or a list of values. For any other line, prints an object with the `reason`.
    /// </summary>
    public static int Run(TextReader input, TextWriter output)
    {
        while (input.ReadLine() is { } line)
        {
            output.WriteLine(JsonSerializer.Serialize(Read(JsonSerializer.Deserialize<string>(line)!)));
        }
        output.Flush();
        return 0;
    }

    static object Read(string line)
    {
        var script = Parser.ParseInput(line, out _, out var errors);
        if (errors.Length > 0) return Refuse(errors[0].Message);
        if (script is not { ParamBlock: null, BeginBlock: null, ProcessBlock: null, EndBlock.Traps: null }
            || script.EndBlock.Statements is not [PipelineAst { Background: false } pipeline]
            || pipeline.PipelineElements is not [CommandAst { Redirections.Count: 0 } command]
            || command.InvocationOperator != TokenKind.Unknown)
        {
            return Refuse("more than one command");
        }
        if (command.GetCommandName() is not { } name) return Refuse("no constant name");
        List<object> elements = [name];
        foreach (var element in command.CommandElements.Skip(1))
        {
            switch (element)
            {
                case CommandParameterAst { Argument: null } parameter:
                    elements.Add(parameter.ParameterName);
                    break;
                case ArrayLiteralAst list when list.Elements.All(IsConstant):
                    elements.Add(list.Elements.Select(ToText).ToArray());
                    break;
                case ExpressionAst value when IsConstant(value):
                    elements.Add(new[] { ToText(value) });
                    break;
                default:
                    return Refuse($"{element.GetType().Name}: {element.Extent.Text}");
            }
        }
        return elements;
    }

    // A text in double quotes without variables is a constant too.
    static bool IsConstant(Ast value) => value is StringConstantExpressionAst or ConstantExpressionAst { Value: not null };

    // A single number for a parameter of texts keeps its spelling, as in `Get-Process 007`.
    static string ToText(Ast value) =>
        value.Parent is ArrayLiteralAst
            ? LanguagePrimitives.ConvertTo<string>(((ConstantExpressionAst)value).Value)
            : value is StringConstantExpressionAst text ? text.Value : value.Extent.Text;

    static object Refuse(string reason) => new { reason };
}
