#include "engine/pass_compile.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "engine/regex_text.h"

namespace rekey {
namespace {

bool IsSeparator(char c) { return c == '.' || c == '/'; }

Edit::Kind KindOf(ast::Strip::Mode mode) {
  switch (mode) {
    case ast::Strip::Mode::kFront:
      return Edit::Kind::kStripFront;
    case ast::Strip::Mode::kAll:
      return Edit::Kind::kStripAll;
    case ast::Strip::Mode::kAnywhere:
      return Edit::Kind::kStripAnywhere;
    case ast::Strip::Mode::kSuffix:
      return Edit::Kind::kStripSuffix;
  }
  return Edit::Kind::kStripFront;
}

}  // namespace

PassCompiler::PassCompiler(const CompileContext& context, Program* program)
    : context_(context), program_(program) {
  program_->passes.emplace_back();
}

void PassCompiler::Enter(Stage stage, const char* what, Span span) {
  if (stage_ <= stage) {
    if (stage_ < stage || !last_) last_ = span;
    stage_ = stage;
    return;
  }
  constexpr const char* kNames[] = {"an edit", "a rule", "the `else`", "a prefix or suffix"};
  const char* earlier = kNames[static_cast<int>(stage_)];
  context_.diagnostics->push_back(
      Error("pass-order", std::string(what) + " stands after " + earlier + " of the same pass")
          .At(span)
          .Also(last_, earlier)
          .Note("in a pass, edits come first, then rules, then `else`, then prefix and suffix")
          .Help("start a new pass with `then`, or move it up"));
}

// --- Edits --------------------------------------------------------------------------------------

void PassCompiler::CheckStripText(const ast::Strip& strip, const ast::Strip::Text& text) {
  if (text.text.empty()) return;
  const char first = text.text.front(), last = text.text.back();
  const bool suffix = strip.mode == ast::Strip::Mode::kSuffix;
  const bool anywhere = strip.mode == ast::Strip::Mode::kAnywhere;
  if (suffix ? IsSeparator(first) || first == ':' : IsSeparator(last)) return;
  if (anywhere && IsSeparator(first)) return;
  Diagnostic error = Error("half-segment", "`" + text.text + "` would cut a segment in two");
  error.At(text.span, suffix ? "begins inside a segment" : "ends inside a segment");
  error.Note("an edit takes whole segments, which end at `.` or `/`");
  if (std::isalnum(static_cast<unsigned char>(suffix ? first : last)))
    error.Help(suffix ? "write \"." + text.text + "\"" : "write \"" + text.text + ".\"");
  const std::string word = EscapeRegex(text.text);
  error.Help(suffix ? "to change half a segment: `rename /(.+)" + word + "/ -> \\1`"
                    : "to change half a segment: `rename /" + word + "(.+)/ -> \\1`");
  context_.diagnostics->push_back(std::move(error));
}

void PassCompiler::AddEdit(const ast::Strip& strip, Span span) {
  Enter(Stage::kEdits, "`strip`", span);
  Edit edit;
  edit.kind = KindOf(strip.mode);
  edit.maybe = strip.maybe;
  edit.span = span;
  for (const ast::Strip::Text& text : strip.texts) {
    CheckStripText(strip, text);
    edit.texts.push_back(text.text);
  }
  pass().edits.push_back(std::move(edit));
}

void PassCompiler::CheckRenameText(const ast::Rename& rename) {
  const ast::Pattern& pattern = rename.pattern;
  if (pattern.is_regex || pattern.parts.empty()) return;
  const auto& first = pattern.parts.front();
  const auto& last = pattern.parts.back();
  const bool begins = !first.hole && IsSeparator(first.text.front());
  const bool ends = !last.hole && IsSeparator(last.text.back());
  if (!begins && !ends) return;
  context_.diagnostics->push_back(
      Error("half-segment", std::string("the pattern of `rename` ") + (begins ? "begins" : "ends") +
                                " with a separator")
          .At(pattern.span)
          .Note("`rename` replaces whole segments; the `.` or `/` around them stays")
          .Help("leave the separator out, on both sides of the arrow"));
}

void PassCompiler::AddEdit(const ast::Rename& rename, Span span) {
  Enter(Stage::kEdits, "`rename`", span);
  CheckRenameText(rename);
  Edit edit;
  edit.kind = Edit::Kind::kRename;
  edit.maybe = rename.maybe;
  edit.span = span;
  Holes holes;
  std::vector<int> groups;
  PatternText text;
  PatternOptions options;
  options.whole_key = false;
  for (const ast::Target::Part& part : rename.target.parts)
    if (part.kind == ast::Target::Part::Kind::kGroup && part.group == 0) options.whole_match = true;
  context_.patterns->Append(rename.pattern, options, &text, &holes, &groups);
  edit.pattern = context_.patterns->Finish(text, rename.pattern.span, holes);
  holes.used.assign(holes.variables.size(), false);
  BindPlace place;
  place.variables = &holes.variables;
  place.groups = &groups;
  place.used = &holes.used;
  place.quiet = holes.broken;
  edit.target = context_.binder->BindTarget(rename.target, place);
  edit.variables = holes.variables;
  if (rename.target.parts.empty())
    context_.diagnostics->push_back(
        Error("empty-text", "`rename` to nothing would leave an empty segment")
            .At(rename.target.span)
            .Help("`strip anywhere \"name.\"` takes segments away"));
  if (context_.lints) LintUnusedHoles(holes, 0, context_.diagnostics);
  pass().edits.push_back(std::move(edit));
}

// --- The rest of a pass -------------------------------------------------------------------------

void PassCompiler::AddRule(const ast::Statement& statement) {
  Enter(Stage::kRules, "a rule", statement.span);
  RuleCompiler(context_).Compile(statement, &pass().rules);
}

void PassCompiler::AddElse(const ast::Else& rest, Span span) {
  if (pass().else_written) {
    context_.diagnostics->push_back(Error("else-twice", "the pass has two `else`")
                                        .At(span, "the second")
                                        .Also(pass().else_span, "the first")
                                        .Help("start a new pass with `then`"));
    return;
  }
  Enter(Stage::kElse, "`else`", span);
  pass().else_written = true;
  pass().else_mode = rest.mode;
  pass().else_why = rest.why.value_or("");
  pass().else_span = span;
}

void PassCompiler::AddAffix(const ast::Affix& tree, Span span) {
  Enter(Stage::kAffixes, tree.suffix ? "`suffix`" : "`prefix`", span);
  Affix affix;
  affix.suffix = tree.suffix;
  affix.span = span;
  BindPlace place;
  place.help = "it goes to every key, and has no holes";
  const KeyTarget target = context_.binder->BindTarget(tree.target, place);
  // What could not be bound has been reported; a param without a value has not.
  const bool broken = std::any_of(target.parts.begin(), target.parts.end(), [](const auto& part) {
    const Code* missing = part.code ? FindCode(*part.code, Code::Kind::kMissing) : nullptr;
    return missing != nullptr && missing->text.empty();
  });
  Status printed = broken ? Status() : target.Print(Env(), &affix.text);
  if (!printed.ok()) {
    context_.diagnostics->push_back(std::move(printed).error());
  } else if (!broken && affix.text.empty()) {
    context_.diagnostics->push_back(
        Error("empty-text", "there is nothing to add in an empty text").At(tree.target.span));
  }
  pass().affixes.push_back(std::move(affix));
}

void PassCompiler::FinishPass() {
  const bool edits_only = pass().rules.empty() && !pass().edits.empty();
  const bool drops = pass().else_mode == ast::Else::Mode::kDrop;
  if (edits_only && pass().else_mode != ast::Else::Mode::kPass)
    context_.diagnostics->push_back(
        Error("drops-all", std::string("the pass ") + (drops ? "drops" : "refuses") +
                               " every key: it has edits, and no rule that claims one")
            .At(pass().else_span)
            .Note("an edit claims nothing")
            .Help("claim what should stay: `keep {key:any}`, or `keep model.{rest:any}`")
            .Help("or leave the `else` out"));
}

void PassCompiler::StartPass(const ast::Then& then, Span span) {
  FinishPass();
  program_->passes.emplace_back();
  pass().name = then.name;
  pass().span = span;
  stage_ = Stage::kEdits;
  last_ = Span();
}

bool PassCompiler::Add(const ast::Statement& statement) {
  const Span span = statement.span;
  const auto& node = statement.node;
  if (const auto* strip = std::get_if<ast::Strip>(&node)) {
    AddEdit(*strip, span);
  } else if (const auto* rename = std::get_if<ast::Rename>(&node)) {
    AddEdit(*rename, span);
  } else if (std::holds_alternative<ast::Rule>(node) || std::holds_alternative<ast::Scope>(node)) {
    AddRule(statement);
  } else if (const auto* rest = std::get_if<ast::Else>(&node)) {
    AddElse(*rest, span);
  } else if (const auto* affix = std::get_if<ast::Affix>(&node)) {
    AddAffix(*affix, span);
  } else if (const auto* then = std::get_if<ast::Then>(&node)) {
    StartPass(*then, span);
  } else {
    return false;
  }
  return true;
}

void PassCompiler::Finish(bool strict, Span strict_span) {
  FinishPass();
  if (!strict) return;
  for (const Pass& each : program_->passes) {
    if (each.else_written) continue;
    Diagnostic error = Error("strict-else", "`strict` wants an `else` in every pass");
    const Span span = each.span             ? each.span
                      : !each.rules.empty() ? each.rules.back().line
                      : !each.edits.empty() ? each.edits.back().span
                                            : strict_span;
    if (span) error.At(span, "the pass has none");
    if (strict_span && strict_span.begin != span.begin) error.Also(strict_span, "demanded here");
    context_.diagnostics->push_back(
        std::move(error.Help("say what happens to other keys: `else pass`, `else drop` or "
                             "`else error`")));
  }
}

}  // namespace rekey
