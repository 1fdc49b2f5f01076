#include "engine/program_dump.h"

#include <vector>

namespace rekey {
namespace {

std::string List(const std::vector<Code>& codes) {
  std::string text;
  for (const Code& code : codes) text += (text.empty() ? "" : ", ") + Dump(code);
  return text;
}

std::string Quote(const std::string& text) { return ToString(Value(text)); }

// i:int=1: hole i is RE2 group 1.
std::string Dump(const std::vector<Variable>& variables, const std::vector<int>& groups) {
  std::string text;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    text += " " + variable.name;
    if (variable.kind == Variable::Kind::kInt) text += ":int";
    if (variable.any) text += ":any";
    if (variable.min_digits) text += ":0" + std::to_string(variable.min_digits);
    const int group = i < groups.size() ? groups[i] : -1;
    text += group < 0 ? "=none" : "=" + std::to_string(group);
  }
  return text.empty() ? text : "  vars" + text;
}

std::string Dump(const KeyPattern& pattern, const std::vector<Variable>& variables) {
  if (pattern.is_literal) return "key " + Quote(pattern.prefix);
  std::string text = "regex `" + pattern.regex + "`";
  if (!pattern.prefix.empty()) text += " from " + Quote(pattern.prefix);
  return text + Dump(variables, pattern.groups);
}

std::string Dump(const OpCall& call) {
  return std::string(" | ") + call.op->name + "(" + List(call.args) + ")";
}

std::string Dump(const Join& join, const std::vector<Variable>& variables) {
  std::string text = "  by " + variables[static_cast<size_t>(join.variable)].name;
  if (join.begin) text += " in " + Dump(*join.begin) + ".." + Dump(*join.end);
  for (size_t i = 0; i < join.words.size(); ++i) text += (i ? "|" : ":") + join.words[i];
  return text;
}

const char* NameOf(ast::Verb verb) {
  switch (verb) {
    case ast::Verb::kMap:
      return "map";
    case ast::Verb::kKeep:
      return "keep";
    case ast::Verb::kDrop:
      return "drop";
    case ast::Verb::kMerge:
      return "merge";
    case ast::Verb::kSplit:
      return "split";
  }
  return "";
}

const char* NameOf(Edit::Kind kind) {
  switch (kind) {
    case Edit::Kind::kStripFront:
      return "strip";
    case Edit::Kind::kStripAll:
      return "strip all";
    case Edit::Kind::kStripAnywhere:
      return "strip anywhere";
    case Edit::Kind::kStripSuffix:
      return "strip suffix";
    case Edit::Kind::kRename:
      return "rename";
  }
  return "";
}

const char* NameOf(ast::Else::Mode mode) {
  switch (mode) {
    case ast::Else::Mode::kPass:
      return "pass";
    case ast::Else::Mode::kDrop:
      return "drop";
    case ast::Else::Mode::kError:
      return "error";
  }
  return "";
}

std::string Dump(const std::optional<Loop>& loop) {
  if (!loop) return "";
  if (loop->pattern) return "  for " + Dump(*loop->pattern, loop->variables);
  return "  for " + loop->variables.back().name + " in " + Dump(*loop->begin) + ".." +
         Dump(*loop->end);
}

std::string Dump(const Pass& pass) {
  std::string text = "pass" + (pass.name ? " " + Quote(*pass.name) : "") + "\n";
  for (const Edit& edit : pass.edits) text += "  " + Dump(edit) + "\n";
  for (const Rule& rule : pass.rules) text += "  " + Dump(rule) + "\n";
  text += std::string("  else ") + NameOf(pass.else_mode);
  if (!pass.else_why.empty()) text += " " + Quote(pass.else_why);
  text += pass.else_written ? "\n" : " (default)\n";
  for (const Affix& affix : pass.affixes)
    text += std::string(affix.suffix ? "  suffix " : "  prefix ") + Quote(affix.text) + "\n";
  return text;
}

std::string Dump(const Fill& fill) {
  return std::string("fill") + (fill.maybe ? "? " : " ") + Dump(fill.target) + " = " +
         (fill.value.kind == ast::Expr::Kind::kCall ? fill.value.text + "(" : std::string("(")) +
         List(fill.value_args) + ") as " + std::string(Name(fill.dtype)) + Dump(fill.loop);
}

std::string Dump(const Copy& copy) {
  return std::string("copy") + (copy.maybe ? "? " : " ") + Dump(copy.source, copy.variables) +
         "  -> " + Dump(copy.target);
}

std::string Dump(const Tie& tie) {
  return std::string("tie") + (tie.maybe ? "? " : " ") + Dump(tie.name) + " = " + Dump(tie.of);
}

std::string Dump(const Expect& expect) {
  std::string text = "expect ";
  if (expect.count) text += "count " + Dump(*expect.count);
  if (expect.kind == ast::Expect::Kind::kError) text += "error ";
  if (expect.message) text += Quote(*expect.message);
  if (expect.kind == ast::Expect::Kind::kNo) text += "no ";
  if (expect.pattern) text += Dump(*expect.pattern, expect.variables);
  if (expect.target) text += Dump(*expect.target);
  if (expect.dtype) text += " : " + std::string(Name(*expect.dtype));
  if (expect.dims) text += "[" + List(*expect.dims) + "]";
  if (expect.value) text += " = " + Dump(*expect.value);
  return text + Dump(expect.loop);
}

}  // namespace

std::string Dump(const Code& code) {
  using Kind = Code::Kind;
  switch (code.kind) {
    case Kind::kConstant:
      return ToString(code.value);
    case Kind::kVariable:
      return code.text;
    case Kind::kMissing:
      return "missing(" + code.text + ")";
    case Kind::kRank:
      return "rank";
    case Kind::kDType:
      return "dtype";
    case Kind::kDim:
      return "dim(" + (code.target ? Dump(*code.target) + ", " : "") + List(code.args) + ")";
    case Kind::kHas:
      return "has(" + Dump(*code.target) + ")";
    case Kind::kTable:
      return code.table->name + "(" + List(code.args) + ")";
    case Kind::kDots:
      return "dots(" + List(code.args) + ")";
    case Kind::kSlashes:
      return "slashes(" + List(code.args) + ")";
    case Kind::kMeta:
      return "meta(" + Quote(code.text) + (code.args.empty() ? "" : ", ") + List(code.args) + ")";
    case Kind::kList:
      return "[" + List(code.args) + "]";
    case Kind::kUnary:
      return "(" + code.text + (code.text == "not" ? " " : "") + List(code.args) + ")";
    case Kind::kBinary:
      return "(" + Dump(code.args[0]) + " " + code.text + " " + Dump(code.args[1]) + ")";
  }
  return "";
}

std::string Dump(const KeyTarget& target) {
  std::string text;
  for (const KeyTarget::Part& part : target.parts) {
    text += text.empty() ? "" : " ";
    if (!part.code) {
      text += Quote(part.text);
      continue;
    }
    text += "{" + Dump(*part.code);
    if (part.pad) text += ":0" + std::to_string(part.pad);
    text += "}";
  }
  return text.empty() ? "\"\"" : text;
}

std::string Dump(const Edit& edit) {
  std::string text = std::string(NameOf(edit.kind)) + (edit.maybe ? "?" : "");
  for (const std::string& strip : edit.texts) text += " " + Quote(strip);
  if (edit.pattern) text += " " + Dump(*edit.pattern, edit.variables);
  if (edit.target) text += "  -> " + Dump(*edit.target);
  return text;
}

std::string Dump(const Rule& rule) {
  std::string text = std::string(NameOf(rule.verb)) + (rule.maybe ? "?" : "");
  for (size_t i = 0; i < rule.sources.size(); ++i)
    text += (i ? ", " : " ") + Dump(rule.sources[i], rule.variables);
  for (size_t i = 0; i < rule.targets.size(); ++i)
    text += (i ? ", " : "  -> ") + Dump(rule.targets[i]);
  if (rule.same_as) text += "  same as " + Dump(*rule.same_as);
  for (const Join& join : rule.by) text += Dump(join, rule.variables);
  if (rule.guard) text += "  if " + Dump(*rule.guard);
  for (const OpCall& call : rule.ops) text += Dump(call);
  return text;
}

std::string Dump(const Program& program) {
  std::string text;
  if (program.strict) text += "strict\n";
  for (const ParamInfo& param : program.params)
    text += "param " + param.name +
            (param.value ? " = " + ToString(*param.value) + " (" + param.origin + ")" : "") + "\n";
  for (const PathRule& sink : program.sinks)
    text += "sink " + Dump(sink.pattern, sink.variables) + "  -> " + Dump(sink.target) + "\n";
  for (const Pass& pass : program.passes) text += Dump(pass);
  for (const auto& output : program.outputs)
    text += std::visit([](const auto& statement) { return Dump(statement); }, output) + "\n";
  for (const Expect& expect : program.expects) text += Dump(expect) + "\n";
  for (const ast::Test* test : program.tests) text += "test " + Quote(test->name) + "\n";
  return text;
}

}  // namespace rekey
