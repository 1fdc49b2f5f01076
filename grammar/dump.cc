#include "grammar/dump.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace rekey {
namespace {

// Texts in quotes with `"` and `\` escaped, so that no text can look like structure.
std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool PlainWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c); });
}

std::string Number(double value) {
  char buffer[40];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// (name a b ...): what each struct of the tree becomes.
class Brackets {
 public:
  explicit Brackets(std::string_view name) : out_("(" + std::string(name)) {}

  Brackets& Word(std::string_view word) {
    out_ += " " + std::string(word);
    return *this;
  }
  Brackets& Text(std::string_view text) { return Word(Quoted(text)); }
  Brackets& MaybeText(const std::optional<std::string>& text) { return text ? Text(*text) : *this; }
  Brackets& If(bool shown, std::string_view word) { return shown ? Word(word) : *this; }
  template <typename Part>
  Brackets& Add(const Part& part);
  template <typename Part>
  Brackets& Add(const std::optional<Part>& part) {
    return part ? Add(*part) : *this;
  }
  template <typename Part>
  Brackets& Add(const std::vector<Part>& parts) {
    for (const Part& part : parts) Add(part);
    return *this;
  }
  std::string Close() { return out_ + ")"; }

 private:
  std::string out_;
};

std::string Show(const ast::Expr& expr) { return Dump(expr); }
std::string Show(const ast::Pattern& pattern) { return Dump(pattern); }
std::string Show(const ast::Target& target) { return Dump(target); }
std::string Show(const ast::Statement& statement) { return Dump(statement); }

std::string Show(const ast::Range& range) {
  return Brackets("range").Add(range.begin).Add(range.end).Close();
}
std::string Show(const ast::Arg& arg) {
  Brackets out("arg");
  out.If(!arg.name.empty(), arg.name + ":").Add(arg.value);
  return out.Add(arg.range_end).Close();
}
std::string Show(const ast::Op& op) {
  return Brackets("op").Word(op.name).If(op.has_parens, "()").Add(op.args).Close();
}
std::string Show(const ast::By& by) { return Brackets("by").Word(by.hole).Add(by.range).Close(); }
std::string Show(const ast::For& loop) {
  return Brackets("for")
      .If(!loop.name.empty(), loop.name)
      .Add(loop.range)
      .Add(loop.pattern)
      .Close();
}
std::string Show(const ast::TensorType& type) {
  Brackets out("type");
  out.Word(type.dtype).If(type.dims.has_value(), "[]");
  return out.Add(type.dims).Close();
}
std::string Show(const ast::Table::Row& row) {
  return Brackets("row").Text(row.key).Add(row.value).Close();
}
std::string Show(const ast::Version& version) {
  return Brackets("rekey").Word(std::to_string(version.number)).Close();
}
std::string Show(const ast::Strict&) { return "(strict)"; }
std::string Show(const ast::Include& include) {
  return Brackets("include").Text(include.path).Close();
}
std::string Show(const ast::Require& require) {
  return Brackets("require").Add(require.condition).MaybeText(require.why).Close();
}
std::string Show(const ast::Param& param) {
  return Brackets("param")
      .Word(param.name)
      .If(!param.type.empty(), ":" + param.type)
      .Add(param.value)
      .Close();
}
std::string Show(const ast::Let& let) {
  return Brackets("let").Word(let.name).Add(let.value).Close();
}
std::string Show(const ast::Table& table) {
  return Brackets("table").Word(table.name).Add(table.rows).Close();
}
std::string Show(const ast::SourceLine& line) {
  return Brackets("source").Add(line.pattern).Add(line.target).Add(line.guard).Close();
}
std::string Show(const ast::SinkLine& line) {
  return Brackets("sink").Add(line.pattern).Add(line.target).Close();
}
std::string Show(const ast::Select& select) {
  Brackets out("select");
  return select.all ? out.Word("all").Close() : out.Text(select.path).Close();
}
std::string Show(const ast::Strip& strip) {
  Brackets out(strip.maybe ? "strip?" : "strip");
  out.If(strip.mode == ast::Strip::Mode::kAll, "all");
  out.If(strip.mode == ast::Strip::Mode::kAnywhere, "anywhere");
  out.If(strip.mode == ast::Strip::Mode::kSuffix, "suffix");
  for (const ast::Strip::Text& text : strip.texts) out.Text(text.text);
  return out.Close();
}
std::string Show(const ast::Rename& rename) {
  return Brackets(rename.maybe ? "rename?" : "rename")
      .Add(rename.pattern)
      .Add(rename.target)
      .Close();
}
std::string Show(const ast::Affix& affix) {
  return Brackets(affix.suffix ? "suffix" : "prefix").Add(affix.target).Close();
}
std::string Show(const ast::Rule& rule) {
  constexpr std::string_view kVerbs[] = {"map", "keep", "drop", "merge", "split"};
  Brackets out(std::string(kVerbs[static_cast<size_t>(rule.verb)]) + (rule.maybe ? "?" : ""));
  out.If(rule.source_list, "[]").Add(rule.sources).If(!rule.targets.empty(), "->");
  out.If(rule.target_list, "[]").Add(rule.targets);
  out.If(rule.same_as.has_value(), "same-as").Add(rule.same_as).Add(rule.by);
  return out.If(rule.guard.has_value(), "if").Add(rule.guard).Add(rule.ops).Close();
}
std::string Show(const ast::Scope& scope) {
  Brackets out(scope.maybe ? "in?" : "in");
  out.Add(scope.pattern).If(scope.target.has_value(), "->").Add(scope.target);
  return out.If(scope.guard.has_value(), "if").Add(scope.guard).Add(scope.body).Close();
}
std::string Show(const ast::Else& rest) {
  constexpr std::string_view kModes[] = {"pass", "drop", "error"};
  return Brackets("else").Word(kModes[static_cast<size_t>(rest.mode)]).MaybeText(rest.why).Close();
}
std::string Show(const ast::Then& then) { return Brackets("then").MaybeText(then.name).Close(); }
std::string Show(const ast::Fill& fill) {
  Brackets out(fill.maybe ? "fill?" : "fill");
  out.Add(fill.target).Add(fill.value).Word(fill.dtype);
  return out.Add(fill.loop).Add(fill.ops).Close();
}
std::string Show(const ast::Copy& copy) {
  return Brackets(copy.maybe ? "copy?" : "copy").Add(copy.pattern).Add(copy.target).Close();
}
std::string Show(const ast::Tie& tie) {
  return Brackets(tie.maybe ? "tie?" : "tie").Add(tie.name).Add(tie.of).Close();
}
std::string Show(const ast::Expect& expect) {
  constexpr std::string_view kKinds[] = {"count", "error", "no", "tensor"};
  Brackets out("expect");
  out.Word(kKinds[static_cast<size_t>(expect.kind)]).Add(expect.count).MaybeText(expect.message);
  out.Add(expect.pattern).Add(expect.target).Add(expect.type);
  return out.Add(expect.value).Add(expect.loop).Close();
}
std::string Show(const ast::With& with) {
  return Brackets("with").Word(with.name).Add(with.value).Close();
}
std::string Show(const ast::Given& given) {
  return Brackets("given")
      .Add(given.target)
      .Add(given.type)
      .Add(given.value)
      .Add(given.loop)
      .Close();
}
std::string Show(const ast::Arrow& arrow) {
  constexpr std::string_view kOutcomes[] = {"", "dropped", "kept", "passed"};
  Brackets out("=>");
  out.Add(arrow.key).If(!arrow.target, kOutcomes[static_cast<size_t>(arrow.outcome)]);
  return out.Add(arrow.target).Close();
}
std::string Show(const ast::TestLine& line) {
  return std::visit([](const auto& node) { return Show(node); }, line.node);
}
std::string Show(const ast::Test& test) {
  return Brackets("test").Text(test.name).Add(test.lines).Close();
}

template <typename Part>
Brackets& Brackets::Add(const Part& part) {
  return Word(Show(part));
}

}  // namespace

std::string Dump(const ast::Expr& expr) {
  using Kind = ast::Expr::Kind;
  const std::string_view parens = expr.parens ? "()" : "";
  switch (expr.kind) {
    case Kind::kInteger:
      return std::to_string(expr.integer) + std::string(parens);
    case Kind::kReal:
      return Number(expr.real) + "r" + std::string(parens);
    case Kind::kText:
      return Quoted(expr.text) + std::string(parens);
    case Kind::kGroup:
      return "\\" + std::to_string(expr.integer) + std::string(parens);
    case Kind::kName:
      return expr.text + std::string(parens);
    case Kind::kCall:
      return Brackets("call").Word(expr.text).Add(expr.args).Close() + std::string(parens);
    case Kind::kHas:
      return Brackets("has").Add(*expr.target).Close() + std::string(parens);
    case Kind::kList:
      return Brackets("list").Add(expr.args).Close() + std::string(parens);
    case Kind::kUnary:
    case Kind::kBinary:
      return Brackets(expr.text).Add(expr.args).Close() + std::string(parens);
  }
  return "";
}

std::string Dump(const ast::Pattern& pattern) {
  if (pattern.is_regex) return Brackets("regex").Text(pattern.regex).Close();
  Brackets out(pattern.quoted ? "quoted-pattern" : "pattern");
  for (const ast::Pattern::Part& part : pattern.parts) {
    if (!part.hole) {
      out.Text(part.text);
      continue;
    }
    std::string hole = "{" + part.hole->name;
    const char* separator = ":";
    for (const std::string& kind : part.hole->kinds) {
      hole += separator + (PlainWord(kind) ? kind : Quoted(kind));
      separator = "|";
    }
    out.Word(hole + "}");
  }
  return out.Close();
}

std::string Dump(const ast::Target& target) {
  using Kind = ast::Target::Part::Kind;
  Brackets out(target.quoted ? "quoted" : "target");
  for (const ast::Target::Part& part : target.parts) {
    if (part.kind == Kind::kText)
      out.Text(part.text);
    else if (part.kind == Kind::kGroup)
      out.Word("\\" + std::to_string(part.group));
    else
      out.Word("{" + Dump(*part.expr) + (part.pad ? ":0" + std::to_string(part.pad) : "") + "}");
  }
  return out.Close();
}

std::string Dump(const ast::Statement& statement) {
  return std::visit([](const auto& node) { return Show(node); }, statement.node);
}

std::string Dump(const ast::File& file) {
  std::string out;
  for (const ast::Statement& statement : file.statements) out += Dump(statement) + "\n";
  return out;
}

}  // namespace rekey
