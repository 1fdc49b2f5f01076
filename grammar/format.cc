#include "grammar/format.h"

#include <type_traits>
#include <utility>

#include "grammar/printer.h"

namespace rekey {
namespace {

using ast::Statement;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string_view Word(ast::Verb verb) {
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

// Whether `target` is bare text that would be read as one of `words`.
bool ReadsAs(const ast::Target& target, std::initializer_list<std::string_view> words) {
  if (target.parts.size() != 1 || target.parts[0].kind != ast::Target::Part::Kind::kText)
    return false;
  for (std::string_view word : words)
    if (target.parts[0].text == word) return true;
  return false;
}

// In a tree that was not parsed, a blank line stands between statements of different sections.
enum class Section { kHead, kDeclarations, kFiles, kEdits, kRules, kThen, kAfter, kExpects, kTest };

Section SectionOf(const Statement& statement) {
  return std::visit(Overloaded{
                        [](const ast::Version&) { return Section::kHead; },
                        [](const ast::Strict&) { return Section::kHead; },
                        [](const ast::Include&) { return Section::kDeclarations; },
                        [](const ast::Require&) { return Section::kDeclarations; },
                        [](const ast::Param&) { return Section::kDeclarations; },
                        [](const ast::Let&) { return Section::kDeclarations; },
                        [](const ast::Table&) { return Section::kDeclarations; },
                        [](const ast::SourceLine&) { return Section::kFiles; },
                        [](const ast::SinkLine&) { return Section::kFiles; },
                        [](const ast::Select&) { return Section::kFiles; },
                        [](const ast::Strip&) { return Section::kEdits; },
                        [](const ast::Rename&) { return Section::kEdits; },
                        [](const ast::Affix&) { return Section::kRules; },
                        [](const ast::Rule&) { return Section::kRules; },
                        [](const ast::Scope&) { return Section::kRules; },
                        [](const ast::Else&) { return Section::kRules; },
                        [](const ast::Then&) { return Section::kThen; },
                        [](const ast::Fill&) { return Section::kAfter; },
                        [](const ast::Copy&) { return Section::kAfter; },
                        [](const ast::Tie&) { return Section::kAfter; },
                        [](const ast::Expect&) { return Section::kExpects; },
                        [](const ast::Test&) { return Section::kTest; },
                    },
                    statement.node);
}

bool NewSection(const Statement& before, const Statement& after) {
  const Section last = SectionOf(before);
  const Section next = SectionOf(after);
  return last != next && last != Section::kThen;
}

class Formatter {
 public:
  explicit Formatter(Printer* printer) : out_(*printer) {}

  void Statements(const std::vector<Statement>& statements) {
    const Statement* last = nullptr;
    for (const Statement& statement : statements) {
      out_.BeginLine(statement.span, last != nullptr && NewSection(*last, statement));
      Print(statement);
      out_.EndLine(statement.span);
      last = &statement;
    }
  }

  void Print(const Statement& statement) {
    span_ = statement.span;
    std::visit([this](const auto& node) { Print(node); }, statement.node);
  }

 private:
  // --- Statements -------------------------------------------------------------------------------

  void Print(const ast::Version& version) { out_.Put("rekey " + std::to_string(version.number)); }
  void Print(const ast::Strict&) { out_.Put("strict"); }
  void Print(const ast::Include& include) {
    out_.Put("include ");
    out_.PrintStr(include.path);
  }
  void Print(const ast::Require& require) {
    out_.Put("require ");
    out_.Print(require.condition);
    if (!require.why) return;
    out_.Put(", ");
    out_.PrintStr(*require.why);
  }
  void Print(const ast::Param& param) {
    out_.Put("param " + param.name);
    if (!param.type.empty()) out_.Put(": " + param.type);
    if (param.value) Value(*param.value);
  }
  void Print(const ast::Let& let) {
    out_.Put("let " + let.name);
    Value(let.value);
  }
  void Print(const ast::Table& table);
  void Print(const ast::SourceLine& line) {
    Edit("source", false, line.pattern, line.target);
    Guard(line.target.span, line.guard, false);
  }
  void Print(const ast::SinkLine& line) { Edit("sink", false, line.pattern, line.target); }
  void Print(const ast::Select& select) {
    out_.Put("select ");
    if (select.all)
      out_.Put("all");
    else if (select.path == "all")
      out_.PrintStr(select.path);
    else
      out_.PrintWord(select.path);
  }
  void Print(const ast::Strip& strip);
  void Print(const ast::Rename& rename) {
    Edit("rename", rename.maybe, rename.pattern, rename.target);
  }
  void Print(const ast::Affix& affix) {
    out_.Put(affix.suffix ? "suffix " : "prefix ");
    out_.Print(affix.target);
  }
  void Print(const ast::Rule& rule);
  void Print(const ast::Scope& scope);
  void Print(const ast::Else& rest);
  void Print(const ast::Then& then) {
    out_.Put("then");
    if (then.name) Str(*then.name);
  }
  void Print(const ast::Fill& fill);
  void Print(const ast::Copy& copy) { Edit("copy", copy.maybe, copy.pattern, copy.target); }
  void Print(const ast::Tie& tie) {
    Verb("tie", tie.maybe);
    out_.Print(tie.name);
    out_.Put(" = ");
    out_.Print(tie.of);
  }
  void Print(const ast::Expect& expect);
  void Print(const ast::Test& test);
  void Print(const ast::With& with) {
    out_.Put("with " + with.name);
    Value(with.value);
  }
  void Print(const ast::Given& given) {
    out_.Put("given ");
    out_.Print(given.target);
    if (given.type) Type(*given.type);
    if (given.value) Value(*given.value);
    For(given.loop);
  }
  void Print(const ast::Arrow& arrow);

  // --- Parts ------------------------------------------------------------------------------------

  void Verb(std::string_view verb, bool maybe) {
    out_.Put(verb);
    out_.Put(maybe ? "? " : " ");
  }
  void Edit(std::string_view verb, bool maybe, const ast::Pattern& pattern,
            const ast::Target& target) {
    Verb(verb, maybe);
    out_.Print(pattern);
    out_.Put(" -> ");
    out_.Print(target);
  }
  void Str(std::string_view text) {
    out_.Put(" ");
    out_.PrintStr(text);
  }
  void Value(const ast::Expr& value) {
    out_.Put(" = ");
    out_.Print(value);
  }
  void Type(const ast::TensorType& type) {
    out_.Put(" : ");
    out_.Print(type);
  }
  void For(const std::optional<ast::For>& loop) {
    if (!loop) return;
    out_.Put(" for ");
    out_.Print(*loop);
  }

  void Sources(const ast::Rule& rule, bool spread);
  void Targets(const ast::Rule& rule, bool spread);
  void Head(const ast::Rule& rule, bool spread_sources, bool spread_targets);
  template <typename PrintPart>
  size_t Flat(PrintPart print) const;
  bool By(Span last, const std::vector<ast::By>& by);
  bool Guard(Span last, const std::optional<ast::Expr>& guard, bool broken);
  void Ops(Span last, const std::vector<ast::Op>& ops, bool broken);
  template <typename PrintPart>
  bool Clause(Span last, Span span, bool broken, PrintPart print);

  Printer& out_;
  Span span_;
};

// The columns of what `print` writes with a flat Formatter.
template <typename PrintPart>
size_t Formatter::Flat(PrintPart print) const {
  Printer flat;
  Formatter formatter(&flat);
  print(&formatter);
  return Width(flat.text());
}

void Formatter::Print(const ast::Table& table) {
  out_.Put("table " + table.name + " {");
  const auto row = [](Formatter* to, const ast::Table::Row& row) {
    to->out_.PrintWord(row.key);
    to->out_.Put(" = ");
    to->out_.Print(row.value);
  };
  const auto rows = [&](Formatter* to) {
    for (size_t i = 0; i < table.rows.size(); ++i) {
      to->out_.Put(i > 0 ? ", " : " ");
      row(to, table.rows[i]);
    }
    to->out_.Put(" }");
  };
  const bool many =
      !out_.flat() && (Printer::ManyLines(span_) || out_.Column() + Flat(rows) > kLineWidth);
  if (!many) return rows(this);
  const Span whole = span_;
  out_.BeginBlock();
  out_.Indent();
  for (const ast::Table::Row& each : table.rows) {
    out_.BeginLine(each.span);
    row(this, each);
    out_.EndLine(each.span);
  }
  if (whole) out_.Before(whole.end - 1);
  out_.Outdent();
  out_.BreakLine();
  out_.Put("}");
}

void Formatter::Print(const ast::Strip& strip) {
  Verb("strip", strip.maybe);
  if (strip.mode == ast::Strip::Mode::kAll) out_.Put("all ");
  if (strip.mode == ast::Strip::Mode::kAnywhere) out_.Put("anywhere ");
  if (strip.mode == ast::Strip::Mode::kSuffix) out_.Put("suffix ");
  for (size_t i = 0; i < strip.texts.size(); ++i) {
    if (i > 0) out_.Put(" ");
    out_.PrintStr(strip.texts[i].text);
  }
}

void Formatter::Sources(const ast::Rule& rule, bool spread) {
  if (!rule.source_list) return out_.Print(rule.sources[0]);
  out_.PrintList(
      '[', ']', rule.sources_span, rule.sources.size(), spread,
      [&](size_t i) { return rule.sources[i].span; },
      [&](size_t i) { out_.Print(rule.sources[i]); });
}

void Formatter::Targets(const ast::Rule& rule, bool spread) {
  if (!rule.target_list) return out_.Print(rule.targets[0]);
  out_.PrintList(
      '[', ']', rule.targets_span, rule.targets.size(), spread,
      [&](size_t i) { return rule.targets[i].span; },
      [&](size_t i) { out_.Print(rule.targets[i]); });
}

void Formatter::Head(const ast::Rule& rule, bool spread_sources, bool spread_targets) {
  Verb(Word(rule.verb), rule.maybe);
  Sources(rule, spread_sources);
  if (!rule.targets.empty()) {
    out_.Put(" -> ");
    Targets(rule, spread_targets);
  }
  if (rule.same_as) {
    out_.Put(" same as ");
    out_.Print(*rule.same_as);
  }
}

// A clause on this line, or on its own if it stood on its own, does not fit, or `broken` says that
// an earlier one does. Returns whether it was broken.
template <typename PrintPart>
bool Formatter::Clause(Span last, Span span, bool broken, PrintPart print) {
  out_.Indent();
  out_.Before(span);
  broken = !out_.flat() && (broken || out_.owed() || out_.Broken(last, span) ||
                            out_.Column() + 1 + Flat(print) > kLineWidth);
  if (broken)
    out_.BreakLine();
  else
    out_.Put(" ");
  print(this);
  out_.Outdent();
  return broken;
}

bool Formatter::By(Span last, const std::vector<ast::By>& by) {
  if (by.empty()) return false;
  return Clause(last, by[0].span, false, [&](Formatter* to) {
    to->out_.Put("by ");
    for (size_t i = 0; i < by.size(); ++i) {
      if (i > 0) to->out_.Put(", ");
      to->out_.Print(by[i]);
    }
  });
}

bool Formatter::Guard(Span last, const std::optional<ast::Expr>& guard, bool broken) {
  if (!guard) return broken;
  return Clause(last, guard->span, broken, [&](Formatter* to) {
    to->out_.Put("if ");
    to->out_.Print(*guard);
  });
}

// All on this line, or each on its own.
void Formatter::Ops(Span last, const std::vector<ast::Op>& ops, bool broken) {
  size_t width = out_.Column();
  for (const ast::Op& op : ops) {
    broken = broken || out_.Broken(last, op.span) || Printer::ManyLines(op.span);
    width += Flat([&](Formatter* to) { to->out_.Print(op); }) + 3;
    last = op.span;
  }
  broken = !out_.flat() && (broken || width > kLineWidth);
  for (const ast::Op& op : ops) {
    out_.Indent();
    out_.Before(op.span);
    if (broken)
      out_.BreakLine();
    else
      out_.Put(" ");
    out_.Put("| ");
    out_.Print(op);
    out_.Outdent();
  }
}

void Formatter::Print(const ast::Rule& rule) {
  const size_t head = out_.Column() + Flat([&](Formatter* to) { to->Head(rule, false, false); });
  const size_t targets =
      out_.Column() + 5 +
      (rule.target_list ? Flat([&](Formatter* to) { to->Targets(rule, false); }) : 0);
  const bool spread_sources = rule.source_list && head > kLineWidth;
  Head(rule, spread_sources, rule.target_list && (spread_sources ? targets : head) > kLineWidth);
  const Span end = rule.same_as           ? rule.same_as->span
                   : rule.targets.empty() ? rule.sources_span
                                          : rule.targets_span;
  // Written `by` then `if`, whatever the order was; both compare with the end of the head.
  bool broken = By(end, rule.by);
  const bool in_order = !rule.guard || rule.by.empty() || !rule.guard->span ||
                        rule.guard->span.begin > rule.by[0].span.begin;
  Span last = rule.by.empty() || !in_order ? end : rule.by.back().span;
  broken = Guard(last, rule.guard, broken);
  if (rule.guard && in_order) last = rule.guard->span;
  if (!in_order) last = rule.by.back().span;
  Ops(last, rule.ops, broken);
}

void Formatter::Print(const ast::Scope& scope) {
  Verb("in", scope.maybe);
  out_.Print(scope.pattern);
  if (scope.target) {
    out_.Put(" -> ");
    out_.Print(*scope.target);
  }
  Guard(scope.target ? scope.target->span : scope.pattern.span, scope.guard, false);
  if (out_.flat()) return;
  const Span whole = span_;
  out_.Put(" {");
  out_.BeginBlock();
  out_.Indent();
  Statements(scope.body);
  if (whole) out_.Before(whole.end - 1);
  out_.Outdent();
  out_.BreakLine();
  out_.Put("}");
}

void Formatter::Print(const ast::Else& rest) {
  switch (rest.mode) {
    case ast::Else::Mode::kPass:
      return out_.Put("else pass");
    case ast::Else::Mode::kDrop:
      return out_.Put("else drop");
    case ast::Else::Mode::kError:
      out_.Put("else error");
  }
  if (rest.why) Str(*rest.why);
}

void Formatter::Print(const ast::Fill& fill) {
  Verb("fill", fill.maybe);
  out_.Print(fill.target);
  Value(fill.value);
  out_.Put(" as " + fill.dtype);
  For(fill.loop);
  Ops(fill.loop ? fill.loop->span : fill.dtype_span, fill.ops, false);
}

void Formatter::Print(const ast::Expect& expect) {
  using Kind = ast::Expect::Kind;
  out_.Put("expect ");
  switch (expect.kind) {
    case Kind::kCount:
      out_.Put("count ");
      return out_.Print(*expect.count);
    case Kind::kError:
      out_.Put("error");
      if (expect.message) Str(*expect.message);
      return;
    case Kind::kNo:
      out_.Put("no ");
      return out_.Print(*expect.pattern);
    case Kind::kTensor:
      break;
  }
  if (expect.pattern)
    out_.Print(*expect.pattern);
  else
    out_.Print(*expect.target, ReadsAs(*expect.target, {"count", "error", "no"}));
  if (expect.type) Type(*expect.type);
  if (expect.value) Value(*expect.value);
  For(expect.loop);
}

void Formatter::Print(const ast::Arrow& arrow) {
  using Outcome = ast::Arrow::Outcome;
  out_.Print(arrow.key, ReadsAs(arrow.key, {"with", "given", "expect"}));
  out_.Put(" => ");
  switch (arrow.outcome) {
    case Outcome::kDropped:
      return out_.Put("dropped");
    case Outcome::kKept:
      return out_.Put("kept");
    case Outcome::kPassed:
      return out_.Put("passed");
    case Outcome::kTarget:
      out_.Print(*arrow.target, ReadsAs(*arrow.target, {"dropped", "kept", "passed"}));
  }
}

void Formatter::Print(const ast::Test& test) {
  out_.Put("test");
  Str(test.name);
  if (out_.flat()) return;
  const Span whole = span_;
  out_.Put(" {");
  out_.BeginBlock();
  out_.Indent();
  for (const ast::TestLine& line : test.lines) {
    out_.BeginLine(line.span);
    std::visit([this](const auto& node) { Print(node); }, line.node);
    out_.EndLine(line.span);
  }
  if (whole) out_.Before(whole.end - 1);
  out_.Outdent();
  out_.BreakLine();
  out_.Put("}");
}

template <typename Part>
std::string Flat(const Part& part) {
  Printer printer;
  printer.Print(part);
  return printer.text();
}

}  // namespace

std::string Format(const ast::File& file) {
  Printer printer(file);
  Formatter(&printer).Statements(file.statements);
  return printer.Finish();
}

std::string Format(const ast::Pattern& pattern) { return Flat(pattern); }
std::string Format(const ast::Target& target) { return Flat(target); }
std::string Format(const ast::Expr& expr) { return Flat(expr); }
std::string Format(const ast::Op& op) { return Flat(op); }

std::string Format(const Statement& statement) {
  Printer printer;
  Formatter(&printer).Print(statement);
  return printer.text();
}

}  // namespace rekey
