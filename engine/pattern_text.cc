#include "engine/pattern_text.h"

#include <algorithm>
#include <utility>

#include "engine/arithmetic.h"
#include "engine/regex.h"
#include "engine/regex_text.h"
#include "grammar/suggest.h"

namespace rekey {
namespace {

std::string Quoted(std::string_view text) { return "`" + std::string(text) + "`"; }

KeyTarget::Part TextPart(const std::string& text) {
  KeyTarget::Part part;
  part.text = text;
  return part;
}

// {i:03}: three digits or more, with zeros in front only up to three.
std::string PaddedRegex(size_t digits) {
  const std::string n = std::to_string(digits);
  return "[1-9]\\d{" + n + ",}|\\d{" + n + "}";
}

}  // namespace

int Holes::Find(const std::string& name, size_t from) const {
  for (size_t i = from; i < variables.size(); ++i)
    if (variables[i].name == name && name != "_") return static_cast<int>(i);
  return -1;
}

int Holes::Add(Variable variable, std::vector<std::string> its_words) {
  variables.push_back(std::move(variable));
  words.push_back(std::move(its_words));
  used.push_back(false);
  return static_cast<int>(variables.size()) - 1;
}

// --- Holes --------------------------------------------------------------------------------------

Diagnostic PatternCompiler::UnknownKind(const ast::Hole& hole, const std::string& word) const {
  Diagnostic error = Error("hole-kind", Quoted(word) + " is no kind of hole and no table");
  error.At(hole.span);
  std::vector<std::string_view> candidates = {"int", "any"};
  for (const Declared& name : names_->all())
    if (name.kind == Declared::Kind::kTable) candidates.push_back(name.name);
  for (const std::string_view near : Nearest(word, candidates, 1))
    error.Help("did you mean `{" + hole.name + ":" + std::string(near) + "}`?");
  if (const Span below = names_->PlaceOf(word)) {
    if (!names_->Find(word)) error.Also(below, "declared here, further down");
    return error;
  }
  return error.Help("a single word needs no hole: write " + Quoted(word) + " itself")
      .Help("the kinds are `int`, `any`, a number of digits as `03`, a table, or words `a|b`");
}

PatternCompiler::Kind PatternCompiler::WordsKind(Variable variable,
                                                 const std::vector<std::string>& words) const {
  // RE2 takes the first alternative that fits: the longest word must come first.
  std::vector<std::string> longest = words;
  std::stable_sort(longest.begin(), longest.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::string regex;
  for (const std::string& word : longest) regex += (regex.empty() ? "" : "|") + EscapeRegex(word);
  if (std::all_of(words.begin(), words.end(), [](const auto& word) { return AllDigits(word); }))
    variable.kind = Variable::Kind::kInt;
  return {std::move(regex), std::move(variable), words};
}

PatternCompiler::Kind PatternCompiler::KindOf(const ast::Hole& hole) {
  Variable variable;
  variable.name = hole.name;
  variable.span = hole.span;
  if (hole.kinds.empty()) return {"[^./]+", variable, {}};
  if (hole.kinds.size() > 1) {
    for (size_t i = 0; i < hole.kinds.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (hole.kinds[i] == hole.kinds[j])
          diagnostics_->push_back(
              Warning("duplicate-word", Quoted(hole.kinds[i]) + " stands twice in the hole")
                  .At(hole.span));
    return WordsKind(std::move(variable), hole.kinds);
  }
  const std::string& kind = hole.kinds[0];
  if (kind == "any") {
    variable.any = true;
    return {".+", variable, {}};
  }
  if (kind == "int") {
    variable.kind = Variable::Kind::kInt;
    return {"\\d+", variable, {}};
  }
  if (kind.size() == 2 && kind[0] == '0' && kind[1] >= '1' && kind[1] <= '9') {
    variable.kind = Variable::Kind::kInt;
    variable.min_digits = kind[1] - '0';
    return {PaddedRegex(static_cast<size_t>(variable.min_digits)), variable, {}};
  }
  const Declared* table = names_->Find(kind);
  if (table == nullptr || table->kind != Declared::Kind::kTable) {
    diagnostics_->push_back(UnknownKind(hole, kind));
    return {"[^./]+", variable, {}};
  }
  names_->Use(kind);
  return WordsKind(std::move(variable), table->table->keys);
}

// The number of a hole or group, which may be one that another member of the list has too.
int PatternCompiler::Number(Variable variable, std::vector<std::string> words,
                            const PatternOptions& options, Holes* holes,
                            std::vector<std::string>* seen) {
  const std::string name = variable.name;
  if (name == "_") return holes->Add(std::move(variable), std::move(words));
  if (name[0] != '\\') CheckHoleName(*names_, name, variable.span, diagnostics_);
  // The groups of a scope's regex are not counted with the rule's own.
  const int known = holes->Find(name, name[0] == '\\' ? options.outer : 0);
  if (known < 0) {
    seen->push_back(name);
    return holes->Add(std::move(variable), std::move(words));
  }
  const Variable& first = holes->variables[static_cast<size_t>(known)];
  if (static_cast<size_t>(known) < options.outer) {
    diagnostics_->push_back(
        Error("hole-name", "the hole " + Quoted(name) + " is named like one of the scope around it")
            .At(variable.span)
            .Also(first.span, "the scope's")
            .Help("give it another name; the scope's hole can be used here as it is"));
  } else if (std::find(seen->begin(), seen->end(), name) != seen->end()) {
    diagnostics_->push_back(Error("hole-twice", "the hole " + Quoted(name) + " stands twice")
                                .At(variable.span, "the second time")
                                .Also(first.span, "the first time")
                                .Note("a pattern cannot ask that two texts be equal")
                                .Help("give the second another name"));
  } else if (first.kind != variable.kind || first.any != variable.any ||
             first.min_digits != variable.min_digits) {
    diagnostics_->push_back(
        Error("hole-kind", "the hole " + Quoted(name) + " is of two kinds in one list")
            .At(variable.span)
            .Also(first.span, "the other")
            .Help("members are joined where their holes are equal: write the same kind"));
  }
  seen->push_back(name);
  return known;
}

// --- Pieces -------------------------------------------------------------------------------------

void PatternCompiler::AppendText(const std::string& literal, PatternText* text,
                                 std::vector<KeyTarget::Part>* same) {
  text->regex += EscapeRegex(literal);
  if (text->prefix_open) text->prefix += literal;
  if (same) same->push_back(TextPart(literal));
}

void PatternCompiler::AppendHole(const ast::Hole& hole, const PatternOptions& options,
                                 PatternText* text, Holes* holes, std::vector<std::string>* seen,
                                 std::vector<KeyTarget::Part>* same) {
  Kind kind = KindOf(hole);
  const Variable::Kind type = kind.variable.kind;
  text->regex += "(" + kind.regex + ")";
  text->prefix_open = false;
  const int number = Number(std::move(kind.variable), std::move(kind.words), options, holes, seen);
  text->variables.push_back(number);
  if (!same) return;
  KeyTarget::Part part;
  part.code = std::make_unique<Code>();
  part.code->kind = Code::Kind::kVariable;
  part.code->span = hole.span;
  part.code->index = number;
  part.code->text = hole.name;
  part.code->variable = type;
  same->push_back(std::move(part));
}

void PatternCompiler::AppendRegex(const ast::Pattern& pattern, const PatternOptions& options,
                                  PatternText* text, Holes* holes, std::vector<int>* groups) {
  text->is_regex = true;
  const RegexText regex = ReadRegex(pattern, options.whole_key, diagnostics_);
  if (!regex.ok) holes->broken = true;
  std::vector<std::string> seen;
  const auto add = [&](std::string name) {
    Variable variable;
    variable.name = std::move(name);
    variable.kind = Variable::Kind::kGroup;
    variable.span = pattern.span;
    const int number = Number(std::move(variable), {}, options, holes, &seen);
    text->variables.push_back(number);
    groups->push_back(number);
  };
  if (options.whole_match) {
    add("\\0");
  } else {
    groups->push_back(-1);
  }
  for (size_t i = 1; i < regex.groups.size(); ++i)
    add(regex.groups[i].empty() ? "\\" + std::to_string(i) : regex.groups[i]);
  // Alternatives and flags end where the piece ends.
  text->regex += (options.whole_match ? "(" : "(?:") + regex.text + ")";
  if (text->prefix_open) text->prefix += regex.prefix;
  text->prefix_open = false;
}

void PatternCompiler::Append(const ast::Pattern& pattern, const PatternOptions& options,
                             PatternText* text, Holes* holes, std::vector<int>* groups,
                             std::vector<KeyTarget::Part>* same) {
  groups->clear();
  if (pattern.is_regex) return AppendRegex(pattern, options, text, holes, groups);
  std::vector<std::string> seen;
  for (const ast::Pattern::Part& part : pattern.parts) {
    if (part.hole) {
      AppendHole(*part.hole, options, text, holes, &seen, same);
    } else {
      AppendText(part.text, text, same);
    }
  }
}

KeyPattern PatternCompiler::Finish(const PatternText& text, Span span, const Holes& holes) {
  KeyPattern pattern;
  pattern.span = span;
  pattern.regex = text.regex;
  pattern.is_regex = text.is_regex;
  pattern.is_literal = text.prefix_open;
  pattern.prefix = text.prefix;
  pattern.groups.assign(holes.variables.size(), -1);
  for (size_t i = 0; i < text.variables.size(); ++i)
    pattern.groups[static_cast<size_t>(text.variables[i])] = static_cast<int>(i) + 1;
  if (pattern.is_literal) return pattern;
  auto re = std::make_shared<re2::RE2>(text.regex, RegexOptions());
  // A regex that is wrong by itself has been reported; what is left is the whole's size.
  const bool reported = re->error_code() != re2::RE2::ErrorPatternTooLarge;
  if (!re->ok() && !(reported && HasErrors(*diagnostics_)))
    diagnostics_->push_back(
        Error("regex", "the pattern cannot be compiled: " + re->error()).At(span));
  pattern.re = std::move(re);
  return pattern;
}

}  // namespace rekey
